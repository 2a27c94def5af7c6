/**
 * `progress.ndjson`: how far a pull has come. It exists until the manifest does.
 *
 *   {"version":1,"asked":{..}}           the request of the pull
 *   {"parts":[{..}],"place":..}          parts that were finished together, and where the pull continues after them
 *   {"drafts":[{..}],"place":..}         the unfinished parts of a pull that was stopped, and where it continues after their rows
 *   ..
 *
 * An unterminated last line is dropped. Parts that no line names are ignored, as are drafts of any line but the last.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import {join} from "node:path";
import {JOURNAL, syncFolder, writeAtomically} from "./manifest.ts";
import {type AskedPull, requireParts} from "./manifestParts.ts";
import type {Part} from "./partFile.ts";
import {at, damaged, PulledError, withFile} from "./pulledError.ts";

const VERSION = 1;

/** Follows no link, and does not wait for the writer of a pipe. Windows has neither flag. */
const {O_RDWR, O_APPEND, O_NOFOLLOW = 0, O_NONBLOCK = 0} = constants;

interface Progress<Place> {
  readonly parts: readonly Part[];
  readonly drafts: readonly Part[];
  /** undefined: no row is written. */
  readonly place: Place | undefined;
  /** Lines after the first one. */
  readonly lines: number;
}

/** @param line - of the journal, from 1. So a draft never replaces another one, and a kill loses neither */
function draftSuffix(line: number): string {
  return `.draft${line}`;
}

export class Journal<Place> {
  private lines: number;

  private constructor(
    private readonly path: string,
    private readonly fd: number,
    readonly begun: Progress<Place>,
  ) {
    this.lines = begun.lines;
  }

  get nextSuffix(): string {
    return draftSuffix(this.lines + 1);
  }

  /** @throws PulledError FILE_FAILED, as all methods */
  static create<Place>(folder: string, asked: AskedPull): Journal<Place> {
    writeAtomically(folder, JOURNAL, `${JSON.stringify({version: VERSION, asked})}\n`);
    syncFolder(folder);
    const path = join(folder, JOURNAL);
    return new Journal<Place>(path, openJournal(path), {parts: [], drafts: [], place: undefined, lines: 0});
  }

  /** @throws PulledError NO_PULL without a journal, OTHER_PULL for one of another pull, DAMAGED */
  static open<Place>(folder: string, asked: AskedPull): Journal<Place> {
    const path = join(folder, JOURNAL);
    const fd = openJournal(path);
    try {
      return new Journal(path, fd, readProgress<Place>(folder, path, fd, asked));
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  add(kind: "parts" | "drafts", parts: readonly Part[], place: Place): void {
    withFile(this.path, "write", () => {
      writeFileSync(this.fd, `${JSON.stringify({[kind]: parts, place})}\n`);
      fsyncSync(this.fd);
    });
    this.lines++;
  }

  close(): void {
    closeSync(this.fd);
  }
}

function openJournal(path: string): number {
  const fd = withFile(path, "write", () => openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK));
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw damaged(path, "expected a file");
}

/** Cuts off an unterminated line. @throws PulledError DAMAGED for invalid parts, also for paths out of the folder */
function readProgress<Place>(folder: string, path: string, fd: number, asked: AskedPull): Progress<Place> {
  const text = withFile(path, "read", () => readFileSync(fd, "utf8"));
  // A killed process may leave an unterminated line.
  const whole = text.slice(0, text.lastIndexOf("\n") + 1);
  const [first, ...lines] = whole
    .split("\n")
    .slice(0, -1)
    .map((line, at) => parseLine(path, line, at));
  if (first?.version !== VERSION) throw damaged(`${path}, line 1`, `expected version ${VERSION}`);
  requireSamePull(folder, (first.asked ?? {}) as AskedPull, asked);
  const last = lines.at(-1);
  const drafts = (last?.drafts ?? []) as readonly Part[];
  const finished = lines.filter(line => line?.drafts === undefined).flatMap(line => line?.parts as Part);
  at(path, () => requireParts([...finished, ...drafts], asked));
  withFile(path, "write", () => ftruncateSync(fd, Buffer.byteLength(whole)));
  const suffix = draftSuffix(lines.length);
  return {
    parts: finished,
    drafts: drafts.map(draft => ({...draft, file: draft.file + suffix})),
    place: last?.place as Place | undefined,
    lines: lines.length,
  };
}

function parseLine(path: string, line: string, at: number): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch (error) {
    throw damaged(`${path}, line ${at + 1}`, "it is not JSON", error);
  }
}

/** @throws PulledError OTHER_PULL that names what differs */
export function requireSamePull(folder: string, stored: AskedPull, asked: AskedPull): void {
  const names = new Set([...Object.keys(stored), ...Object.keys(asked)]) as ReadonlySet<keyof AskedPull>;
  for (const name of names) {
    const [was, is] = [stored, asked].map(pull => JSON.stringify(pull[name]) ?? "nothing");
    if (was !== is)
      throw new PulledError("OTHER_PULL", `${folder} has a pull with another ${name}: ${was}, got ${is}`);
  }
}
