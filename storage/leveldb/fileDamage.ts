/** Damage to one of LevelDB's files. */
import {StoreError} from "../errors.ts";

export interface FileFinding {
  readonly file: string;
  /** undefined: the finding is about the whole file. */
  readonly offset: number | undefined;
  readonly what: string;
  /** The system does not open the file, so its contents are unknown. */
  readonly isRefused?: true;
}

export class FileDamage extends StoreError {
  constructor(readonly finding: FileFinding) {
    super(
      finding.isRefused ? "STORE_UNREADABLE" : "STORE_DAMAGED",
      `${whereOfFinding(finding)}: ${finding.what}`,
    );
  }
}

export function whereOfFinding({file, offset}: FileFinding): string {
  return offset === undefined ? file : `${file}, byte ${offset}`;
}

export function missingFile(file: string, by: string): FileFinding {
  return {file, offset: undefined, what: `it is missing, although ${by} names it`};
}

/** The caller judges a missing file. A limit on open files is not damage to the file. */
const NO_FINDING = ["ENOENT", "EMFILE", "ENFILE"];

/** @param file - that was read from its start, or not at all. @throws `error` if it is not about the file */
export function findingOf(error: unknown, file?: string): FileFinding {
  if (error instanceof FileDamage) return error.finding;
  const {code = "", syscall, message} = error as NodeJS.ErrnoException;
  if (file === undefined || syscall === undefined || NO_FINDING.includes(code)) throw error;
  const what = `it cannot be read: ${message}`;
  return syscall === "read" ? {file, offset: 0, what} : {file, offset: undefined, what, isRefused: true};
}
