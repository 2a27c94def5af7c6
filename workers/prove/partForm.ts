/**
 * How a tree part of a multiproof is written (docs/proofs.md, sections 9.2 and 11): as JSON (partText.ts) or as bytes
 * (partBytes.ts). The order of the calls:
 *
 *   openPart  { openRecord  [account [openPart .. closePart] | slot | neighbour]  closeRecord }  closePart
 *
 * Head and tail have no content.
 */
import type {Account} from "../../storage/tree/account.ts";
import type {KeyTable} from "../../storage/tree/keyTable.ts";
import type {MultiPath} from "../../storage/tree/multiPath.ts";
import type {AnswerText} from "./answerText.ts";

export interface PartForm {
  /** The part up to its first record. */
  openPart(text: AnswerText, nextFreeNode: number, table: KeyTable): void;
  /** @param leaf - its number in the part. @param path - read for it */
  openRecord(text: AnswerText, leaf: number, leafIndex: number, path: MultiPath): void;
  /** @param hasPart - its storage part follows */
  account(text: AnswerText, account: Account, hasPart: boolean): void;
  /** @param value - without leading zeros */
  slot(text: AnswerText, value: Uint8Array): void;
  /** @param hashes - hKey and hVal */
  neighbour(text: AnswerText, hashes: Uint8Array): void;
  /** @param path - as read for `openRecord` */
  closeRecord(text: AnswerText, path: MultiPath): void;
  closePart(text: AnswerText): void;
}
