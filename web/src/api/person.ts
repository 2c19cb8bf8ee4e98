import { ask, call } from "./client";
import type { About, Column, Comparison, Consent, Counts, Health, Help, Sentence } from "./types";

export const readHealth = () => ask<Health>("GET", "/api/health");
export const readAbout = () => ask<About>("GET", "/api/about");

export const readHelp = (country: string | null) =>
  ask<Help>("GET", country ? `/api/help?country=${encodeURIComponent(country)}` : "/api/help");

export const readConsent = () => ask<Consent>("GET", "/api/consent");
export const giveConsent = (agreed: boolean) => ask<Consent>("PUT", "/api/consent", { body: { agreed } });

export async function readSentences(conversation: string | null): Promise<Sentence[]> {
  return (await ask<{ sentences: Sentence[] }>("GET", `/api/persona${only(conversation)}`)).sentences;
}

export const addSentence = (text: string, conversation: string | null) =>
  ask<Sentence>("POST", `/api/persona${only(conversation)}`, { body: { text } });

export const editSentence = (id: string, text: string) => ask<Sentence>("PUT", `/api/persona/${id}`, { body: { text } });

export const forgetSentence = (id: string) => ask<void>("DELETE", `/api/persona/${id}`);

export async function exportEverything(): Promise<Blob> {
  return (await call("GET", "/api/export")).blob();
}

export const eraseEverything = () => ask<Counts>("POST", "/api/erase", { body: { sure: true } });

export const compare = (body: { text: string | null; conversation: string | null; columns: Column[] }) =>
  ask<Comparison>("POST", "/api/compare", { body });

const only = (conversation: string | null) => (conversation ? `?conversation=${encodeURIComponent(conversation)}` : "");
