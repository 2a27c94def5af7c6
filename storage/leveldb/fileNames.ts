/** The names of LevelDB's numbered files. */

export function logName(number: number): string {
  return `${String(number).padStart(6, "0")}.log`;
}

export function tableName(number: number): string {
  return `${String(number).padStart(6, "0")}.ldb`;
}

/** @returns undefined if it is not the name of a log */
export function logNumber(name: string): number | undefined {
  const digits = /^(\d+)\.log$/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
