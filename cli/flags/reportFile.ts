/** Files of `proofd load`: the report to write, and an earlier report to compare with. */
import {accessSync, constants, statSync} from "node:fs";
import {dirname} from "node:path";
import type {Command} from "commander";
import {kindOf, readWholeFile} from "../../storage/regularFile.ts";
import {refuseFlag} from "./flagTable.ts";

/** Checks the file before the run, so that no report is lost. A file that cannot be written is a usage error. */
export function requireWritable(file: string, key: string, command: Command): void {
  try {
    // The dot refuses a file in place of the folder. statSync of newer Nodes reports such a path as missing.
    accessSync(`${dirname(file)}/.`, constants.W_OK);
    const found = statSync(file, {throwIfNoEntry: false});
    if (found !== undefined && !found.isFile()) throw new Error(`expected a file, got ${kindOf(found)}`);
  } catch (error) {
    refuseFlag(command, key, ` ${file}: cannot be written: ${(error as Error).message}`);
  }
}

/** Reads the file of --against. Ends the program with a usage error for what `read` throws. */
export function readAgainst<Run>(file: string, command: Command, read: (text: string) => Run): Run {
  try {
    return read(readWholeFile(file).toString());
  } catch (error) {
    return refuseFlag(command, "against", ` ${file}: ${(error as Error).message}`);
  }
}
