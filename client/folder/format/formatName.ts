/** The formats' names. What reads and writes them is loaded by those who do (formats.ts): Parquet's library takes 40 ms. */
export const FORMAT_NAMES = ["ndjson", "csv", "parquet"] as const;

export type FormatName = (typeof FORMAT_NAMES)[number];
