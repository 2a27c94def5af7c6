/** A head as JSON: what it does not have is null, in logs and in answers to orders. */
import type {Head} from "../../workers/job/head.ts";

export type HeadFields = {readonly [Name in Exclude<keyof Head, "unaudited">]: number | null};

export function headFields({earliest, finalized, latest}: Head): HeadFields {
  return {earliest: earliest ?? null, finalized: finalized ?? null, latest: latest ?? null};
}
