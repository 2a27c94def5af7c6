/**
 * An error about damage to one of LevelDB's files.
 */
import {StoreError} from "../errors.ts";
import type {FileFinding} from "./manifest.ts";
import {describeFinding} from "./verifyFiles.ts";

export class FileDamage extends StoreError {
  readonly finding: FileFinding;

  constructor(finding: FileFinding) {
    super("STORE_DAMAGED", describeFinding(finding));
    this.finding = finding;
  }
}
