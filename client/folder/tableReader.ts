/** Reads the rows of one table of a pull, one after another, and knows where each stands. */
import {join} from "node:path";
import type {Manifest} from "./manifest.ts";
import {type Part, readPart} from "./partFile.ts";
import {PulledError} from "./pulledError.ts";
import {type RowsOf, TABLES, type TableName} from "./row/tables.ts";

export class TableReader<Name extends TableName> {
  private readonly parts: readonly Part[];
  private part: Part | undefined;
  private rows: AsyncGenerator<readonly RowsOf[Name][], void, void> | undefined;
  private some: readonly RowsOf[Name][] = [];
  private at = 0;
  /** Of the part, before `some`. */
  private before = 0;
  private nextPart = 0;

  constructor(
    private readonly folder: string,
    private readonly manifest: Pick<Manifest, "order" | "parts">,
    private readonly table: Name,
  ) {
    this.parts = manifest.parts.filter(part => part.table === table);
  }

  /** @returns undefined at the end. @throws PulledError DAMAGED, FILE_FAILED */
  async next(): Promise<RowsOf[Name] | undefined> {
    while (this.at === this.some.length) if (!(await this.readSome())) return undefined;
    return this.some[this.at++];
  }

  /** The file and the number of the row that `next` gave, for messages. */
  get place(): string {
    if (this.part === undefined) return join(this.folder, `${TABLES[this.table].name}-*`);
    return `${join(this.folder, this.part.file)}, row ${this.before + this.at}`;
  }

  /** What is wrong with the row that `next` gave. */
  refusal(problem: string): PulledError {
    return new PulledError("DAMAGED", `${this.place}: ${problem}`);
  }

  /** @returns false at the end */
  private async readSome(): Promise<boolean> {
    if (this.rows === undefined) {
      const part = this.parts[this.nextPart];
      if (part === undefined) return false;
      this.nextPart++;
      this.part = part;
      this.rows = readPart(this.folder, part, this.manifest.order.format) as unknown as AsyncGenerator<
        readonly RowsOf[Name][]
      >;
      [this.some, this.at, this.before] = [[], 0, 0];
    }
    const {value, done} = await this.rows.next();
    if (done === true) {
      this.rows = undefined;
      return true;
    }
    this.before += this.some.length;
    [this.some, this.at] = [value, 0];
    return true;
  }
}
