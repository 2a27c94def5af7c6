/** The formats by name. A name is also the end of a part's file name. */
import {csv} from "./csv.ts";
import type {FormatName} from "./formatName.ts";
import {ndjson} from "./ndjson.ts";
import {parquet} from "./parquet.ts";
import type {PartFormat} from "./partFormat.ts";

export const FORMATS: Readonly<Record<FormatName, PartFormat>> = {ndjson, csv, parquet};
