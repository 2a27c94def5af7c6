/** The formats by name. A name is also the end of a part's file name. */
import {ndjson} from "./ndjson.ts";
import type {PartFormat} from "./partFormat.ts";

export const FORMATS = {ndjson} as const satisfies Readonly<Record<string, PartFormat>>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[];
