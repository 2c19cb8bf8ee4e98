import { paragraphs } from "./answering";

export function Paragraphs({ text }: { text: string }) {
  return paragraphs(text).map((paragraph, place) => (
    <p key={place} dir="auto">
      {paragraph}
    </p>
  ));
}
