/**
 * The names of LevelDB's numbered files.
 */

/** The name that LevelDB gives a log. */
export function logName(number: number): string {
  return `${String(number).padStart(6, "0")}.log`;
}

/** The name that LevelDB gives a table. */
export function tableName(number: number): string {
  return `${String(number).padStart(6, "0")}.ldb`;
}

/** @returns the log's number, or undefined if it is not the name of a log */
export function logNumber(name: string): number | undefined {
  const digits = /^(\d+)\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
