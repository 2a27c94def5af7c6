/**
 * Damage to one of LevelDB's files.
 */
import {StoreError} from "../errors.ts";

export interface FileFinding {
  readonly file: string;
  /** undefined: the finding is about the whole file. */
  readonly offset: number | undefined;
  readonly what: string;
}

export class FileDamage extends StoreError {
  constructor(readonly finding: FileFinding) {
    super("STORE_DAMAGED", `${whereOfFinding(finding)}: ${finding.what}`);
  }
}

export function whereOfFinding({file, offset}: FileFinding): string {
  return offset === undefined ? file : `${file}, byte ${offset}`;
}

/** @throws `error` if it is not damage */
export function findingOf(error: unknown): FileFinding {
  if (error instanceof FileDamage) return error.finding;
  throw error;
}
