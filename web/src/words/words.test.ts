import { en } from "./en";
import { percent, words, wordsFor } from "./words";

const sources = import.meta.glob<string>("../**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
const written = Object.entries(sources).filter(([path]) => !/\.test\.|testing\/|\/en\.ts$/.test(path));

test("names in braces are filled in, and numbers are written for people", () => {
  expect(words("list.none", { search: "cat" })).toBe("Nothing found for “cat”.");
  expect(words("composer.too_large", { size: 1048576, longest: 8000 })).toContain("1,048,576 characters");
});

test("one thing and several things are told apart", () => {
  expect(words("composer.left", { n: 1 })).toBe("1 character left");
  expect(words("composer.left", { n: 2 })).toBe("2 characters left");
});

test("a name the catalogue does not know is shown as it is", () => {
  expect(wordsFor("emotion", "lonely")).toBe("lonely");
  expect(wordsFor("step", "something new")).toBe("something new");
});

test("shares are whole percents", () => {
  expect(percent(0.126)).toBe("13%");
});

test("every text of the catalogue is used somewhere", () => {
  const all = written.map(([, source]) => source).join("\n");
  const dynamic = /^(emotion|step|source|layer|danger)\./;
  const unused = Object.keys(en).filter(
    (key) => !dynamic.test(key) && !all.includes(`"${key}"`) && !/^words\.(message|persona|listener)$/.test(key),
  );
  expect(unused).toEqual([]);
});

test("no component says anything that is not in the catalogue", () => {
  const attributes = /\b(aria-label|label|placeholder|title|description|alt)="[^"]*[A-Za-z]/;
  const betweenTags = />\s*([A-Za-z][^<>{}=;()]*)</;
  const found = written
    .filter(([path]) => path.endsWith(".tsx"))
    .flatMap(([path, source]) =>
      source
        .split("\n")
        .filter((line) => attributes.test(line) || betweenTags.test(line.replace(/=>/g, "")))
        .map((line) => `${path}: ${line.trim()}`),
    )
    .filter((line) => !/[:<]\s*\w+<|Promise<|Set<|Record<|Array<|Store<|Map</.test(line));
  expect(found).toEqual([]);
});
