/** A crisis text without its list of help lines: the page shows those as a card, with numbers to press. */
export function spokenPart(text: string): string {
  const list = text.search(/\n\n[^\n]+:\n- /);
  return list < 0 ? text : text.slice(0, list);
}
