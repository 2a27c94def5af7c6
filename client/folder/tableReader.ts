/** Reads the rows of one table of a pull in order, and reports the place of each in messages. */
import {join} from "node:path";
import type {Manifest} from "./manifest.ts";
import {type Part, readPart} from "./partFile.ts";
import {damaged, type PulledError} from "./pulledError.ts";
import {type RowsOf, TABLES, type TableName} from "./row/tables.ts";

export class TableReader<Name extends TableName> implements AsyncIterable<RowsOf[Name]> {
  private part: Part | undefined;
  /** Of the part, from 1. */
  private rowNumber = 0;
  private readonly rows = this.readParts();

  constructor(
    private readonly folder: string,
    private readonly manifest: Pick<Manifest, "asked" | "parts">,
    private readonly table: Name,
  ) {}

  /** @returns undefined at the end. @throws PulledError DAMAGED, FILE_FAILED */
  async next(): Promise<RowsOf[Name] | undefined> {
    const {value, done} = await this.rows.next();
    return done === true ? undefined : value;
  }

  /** Closes the file of a reader that has not reached its end. */
  async close(): Promise<void> {
    await this.rows.return();
  }

  [Symbol.asyncIterator](): AsyncIterator<RowsOf[Name]> {
    return this.rows;
  }

  /** The file and the number of the row that came last, for messages. */
  get place(): string {
    if (this.part === undefined) return join(this.folder, `${TABLES[this.table].name}-*`);
    return `${join(this.folder, this.part.file)}, row ${this.rowNumber}`;
  }

  refusal(problem: string): PulledError {
    return damaged(this.place, problem);
  }

  private async *readParts(): AsyncGenerator<RowsOf[Name], void, void> {
    const {asked, parts} = this.manifest;
    for (const part of parts.filter(({table}) => table === this.table)) {
      [this.part, this.rowNumber] = [part, 0];
      for await (const some of readPart(this.folder, part, asked.format))
        for (const row of some) {
          this.rowNumber++;
          yield row as RowsOf[Name];
        }
    }
  }
}
