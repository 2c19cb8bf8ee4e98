import { hashOf, routeOf } from "./route";

test.each([
  ["", { view: "talk", id: null }],
  ["#/", { view: "talk", id: null }],
  ["#/c/3f8a1c0d9b7e2465", { view: "talk", id: "3f8a1c0d9b7e2465" }],
  ["#/about-you", { view: "about-you" }],
  ["#/c/../../etc", { view: "unknown" }],
  ["#/c/3F8A", { view: "unknown" }],
  ["#/nothing", { view: "unknown" }],
])("%s leads to the right view", (hash, route) => {
  expect(routeOf(hash)).toEqual(route);
});

test("an address and its view belong together", () => {
  for (const hash of ["#/", "#/c/3f8a1c0d9b7e2465", "#/compare", "#/listeners", "#/help"])
    expect(hashOf(routeOf(hash))).toBe(hash);
});
