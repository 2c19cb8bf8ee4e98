import tokens from "./tokens.css?raw";

/** WCAG's contrast of two colours such as #3c6b57. */
function contrast(one: string, other: string): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function colours(selector: string): Record<string, string> {
  const from = tokens.indexOf(`${selector} {`);
  const block = tokens.slice(from, tokens.indexOf("}", from));
  return Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]));
}

const TEXT = [
  ...["ink", "ink-soft", "ink-quiet", "accent", "care"].flatMap((ink) =>
    ["ground", "ground-side", "surface", "surface-sunk"].map((ground) => [ink, ground]),
  ),
  ["accent-ink", "accent-ground"],
  ["mine-ink", "mine"],
  ["care", "care-ground"],
  ["ink", "care-ground"],
  ["ink-soft", "care-ground"],
  ["ink", "match"],
  ["ink-soft", "accent-ground"],
] as [string, string][];
const SHAPES = [1, 2, 3, 4].map((line) => [`emotion-${line}`, "surface"]) as [string, string][];

describe.each([
  ["light", ":root"],
  ["dark", ':root[data-mantine-color-scheme="dark"]'],
])("in %s", (_, selector) => {
  const scheme = colours(selector);

  test.each(TEXT)("%s can be read on %s (4.5 : 1)", (ink, ground) => {
    expect(contrast(scheme[ink]!, scheme[ground]!)).toBeGreaterThanOrEqual(4.5);
  });

  test.each(SHAPES)("%s can be seen on %s (3 : 1)", (line, ground) => {
    expect(contrast(scheme[line]!, scheme[ground]!)).toBeGreaterThanOrEqual(3);
  });
});

test("contrast is as WCAG defines it", () => {
  expect(contrast("#000000", "#ffffff")).toBeCloseTo(21);
  expect(contrast("#777777", "#ffffff")).toBeCloseTo(4.48, 2);
});
