import type { Reasons } from "../api/types";

export interface Line {
  emotion: string;
  points: { turn: number; share: number; x: number; y: number }[];
}

export interface Frame {
  width: number;
  height: number;
  /** Room at the sides, so that dots at the edge are whole. */
  pad: number;
}

/** The emotions that were strongest anywhere in the conversation, strongest first. */
export function leadingEmotions(reasons: Reasons, most: number): string[] {
  const read = reasons.replies.filter((row) => row.shares.length > 0);
  const peaks = reasons.emotions.map((emotion, index) => ({
    emotion,
    peak: Math.max(0, ...read.map((row) => row.shares[index] ?? 0)),
  }));
  return peaks
    .sort((one, other) => other.peak - one.peak)
    .slice(0, most)
    .filter(({ peak }) => peak > 0)
    .map(({ emotion }) => emotion);
}

/** One line per emotion over the replies that were read; x by the order of replies, y by the share. */
export function linesOver(reasons: Reasons, emotions: readonly string[], frame: Frame): Line[] {
  const read = reasons.replies.filter((row) => row.shares.length > 0);
  const step = read.length > 1 ? (frame.width - 2 * frame.pad) / (read.length - 1) : 0;
  const top = topOf(reasons);
  return emotions.map((emotion) => {
    const index = reasons.emotions.indexOf(emotion);
    const points = read.map((row, place) => {
      const share = row.shares[index] ?? 0;
      const x = read.length > 1 ? frame.pad + place * step : frame.width / 2;
      return { turn: row.turn, share, x, y: frame.height - frame.pad - (share / top) * (frame.height - 2 * frame.pad) };
    });
    return { emotion, points };
  });
}

/** The share at the top edge of the chart. */
export function topOf(reasons: Reasons): number {
  return highest(reasons.replies.flatMap((row) => row.shares));
}

/** The top of the scale: a quarter, a half, three quarters or all, whichever just holds the highest share. */
export function highest(shares: readonly number[]): number {
  const most = Math.max(0, ...shares);
  return [0.25, 0.5, 0.75].find((step) => most <= step) ?? 1;
}

/** A soft path through points, which never swings beyond them. */
export function softPath(points: readonly { x: number; y: number }[]): string {
  return points
    .map((point, index) => {
      const before = points[index - 1];
      if (!before) return `M${round(point.x)} ${round(point.y)}`;
      const middle = round((before.x + point.x) / 2);
      return `C${middle} ${round(before.y)} ${middle} ${round(point.y)} ${round(point.x)} ${round(point.y)}`;
    })
    .join("");
}

const round = (value: number) => Math.round(value * 10) / 10;
