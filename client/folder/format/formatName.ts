/** Names of formats. Their code is in other files, because loading Parquet's library takes 40 ms. */
export const FORMAT_NAMES = ["ndjson", "csv", "parquet"] as const;

export type FormatName = (typeof FORMAT_NAMES)[number];
