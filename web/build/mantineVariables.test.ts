import { variables } from "./mantineVariables.ts";

test("the built variables hold our colours for both schemes, so that no style has to be written while the page runs", () => {
  const css = variables();
  expect(css).toContain("--mantine-color-sage-7: #3c6b57");
  expect(css).toMatch(/data-mantine-color-scheme=["']dark["']/);
  expect(css).toMatch(/--mantine-primary-color-filled/);
});
