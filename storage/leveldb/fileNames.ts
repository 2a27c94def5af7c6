/**
 * Names of LevelDB's numbered files.
 */

/** LevelDB's own name for a log. */
export function logName(number: number): string {
  return `${String(number).padStart(6, "0")}.log`;
}

/** LevelDB's own name for a table. */
export function tableName(number: number): string {
  return `${String(number).padStart(6, "0")}.ldb`;
}

/** @returns undefined if it is not the name of a log */
export function logNumber(name: string): number | undefined {
  return numberOf(/^(\d+)\.log$/, name);
}

/** @returns undefined if it is not the name of a table. LevelDB reads both endings */
export function tableNumber(name: string): number | undefined {
  return numberOf(/^(\d+)\.(?:ldb|sst)$/, name);
}

function numberOf(pattern: RegExp, name: string): number | undefined {
  const digits = pattern.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}
