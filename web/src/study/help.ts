import type { Help } from "../api/types";
import type { StudyClient } from "./client";

export const readHelp = (client: StudyClient, country: string | null): Promise<Help> =>
  client.send<Help>("GET", country ? `/api/study/help?country=${encodeURIComponent(country)}` : "/api/study/help");
