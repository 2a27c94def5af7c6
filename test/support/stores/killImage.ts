/** What kill -9 leaves of a store: its files right after one of its writes, of which a part may be missing. */
import {existsSync, readdirSync, statSync} from "node:fs";
import {cp, rename, rm, truncate} from "node:fs/promises";
import {join} from "node:path";
import type {TestContext} from "node:test";
import {Level} from "level";
import {readNote} from "../../../storage/directory/acknowledgedNote.ts";

/** Of the writes of a step, the one after which its process is killed, and how much of it is in the log. */
export interface Kill {
  readonly write: number;
  readonly share: number;
}

/** Copies a store's files right after one of its writes, which are synced, and cuts this write's record in the log of the copy. */
export class KillImage {
  private left = -1;
  private share = 1;
  private readonly image: string;

  constructor(
    t: TestContext,
    private readonly directory: string,
  ) {
    this.image = `${directory}.image`;
    const {batch} = Level.prototype as unknown as {batch: (...args: unknown[]) => {write: () => unknown}};
    const around = (db: Level, write: () => unknown) => this.around(db, write);
    t.mock.method(Level.prototype, "batch", function (this: Level, ...args: unknown[]) {
      if (args.length > 0) return around(this, () => batch.apply(this, args));
      const chained = batch.call(this);
      const {write} = chained;
      return Object.assign(chained, {
        write: (...options: []) => around(this, () => write.apply(chained, options)),
      });
    });
  }

  arm({write, share}: Kill): void {
    [this.left, this.share] = [write, share];
  }

  /** Puts the copy in the place of the store, which is closed. @returns the note's block, -1: there is none; undefined: nothing was copied */
  async restore(): Promise<number | undefined> {
    this.left = -1;
    if (!existsSync(this.image)) return undefined;
    await rm(this.directory, {recursive: true});
    await rename(this.image, this.directory);
    return (await readNote(this.directory))?.block ?? -1;
  }

  private async around(db: Level, write: () => unknown): Promise<unknown> {
    if (db.location !== this.directory || this.left-- !== 0) return write();
    const before = this.log();
    const outcome = await write();
    const {name, bytes} = this.log();
    await this.copy();
    const start = name === before.name ? before.bytes : 0;
    await truncate(join(this.image, name), start + Math.ceil(this.share * (bytes - start)));
    return outcome;
  }

  /** Again if LevelDB merged tables meanwhile. */
  private async copy(): Promise<void> {
    for (let before = ""; before !== this.list(); ) {
      before = this.list();
      await rm(this.image, {recursive: true, force: true});
      await cp(this.directory, this.image, {recursive: true}).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "ENOENT") throw error;
        before = "";
      });
    }
  }

  private list(): string {
    return readdirSync(this.directory).sort().join(" ");
  }

  /** The newest. */
  private log(): {readonly name: string; readonly bytes: number} {
    const names = readdirSync(this.directory).filter(name => name.endsWith(".log"));
    const name = names.sort().at(-1) as string;
    return {name, bytes: statSync(join(this.directory, name)).size};
  }
}
