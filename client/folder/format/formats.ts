/** The formats by name. A name is also the end of a part's file name. */
import {csv} from "./csv.ts";
import {ndjson} from "./ndjson.ts";
import {parquet} from "./parquet.ts";
import type {PartFormat} from "./partFormat.ts";

export const FORMATS = {ndjson, csv, parquet} as const satisfies Readonly<Record<string, PartFormat>>;

export type FormatName = keyof typeof FORMATS;

export const FORMAT_NAMES = Object.keys(FORMATS) as readonly FormatName[];
