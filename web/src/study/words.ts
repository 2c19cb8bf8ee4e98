import { told, type Values } from "../words/words";
import { studyEn } from "./en";

export type StudyKey = keyof typeof studyEn;

/** A text of the study pages' catalogue. */
export const say = (key: StudyKey, values: Values = {}): string => told(studyEn[key], values);
