/**
 * What a block asks of the consensus layer (EIP-7685): deposits from the logs of the deposit contract (EIP-6110), then what the
 * system contracts return.
 *
 *   hash     = sha256(sha256(type | bytes) of each kind that is not empty)
 *   deposit  = 48 public key | 32 credentials | 8 amount | 96 signature | 8 index        of each log, one after the other
 */
import {createHash} from "node:crypto";
import type {EvmLog} from "../../interpreter/message.ts";
import {BlockMismatch} from "../executionError.ts";

const DEPOSIT_EVENT = Buffer.from("649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5", "hex");
const WORD_BYTES = 32;
const LOG_BYTES = 576;

/** The fields of a deposit's log: where each begins, after the word with its length. */
const DEPOSIT_FIELDS: readonly {readonly at: number; readonly bytes: number}[] = [
  {at: 160, bytes: 48},
  {at: 256, bytes: 32},
  {at: 320, bytes: 8},
  {at: 384, bytes: 96},
  {at: 512, bytes: 8},
];

/** @param contract - 20 bytes. @throws BlockMismatch for a deposit of another form */
export function readDeposits(logs: readonly EvmLog[], contract: Uint8Array): Uint8Array {
  const deposits: Uint8Array[] = [];
  for (const {address, topics, data} of logs) {
    const [event] = topics;
    if (event === undefined || Buffer.compare(event, DEPOSIT_EVENT) !== 0) continue;
    if (Buffer.compare(address, contract) === 0) deposits.push(...readDeposit(data));
  }
  return Buffer.concat(deposits);
}

function readDeposit(log: Uint8Array): Uint8Array[] {
  const isWord = (at: number, number: number): boolean =>
    BigInt(`0x${Buffer.from(log.subarray(at, at + WORD_BYTES)).toString("hex")}`) === BigInt(number);
  const hasForm =
    log.length === LOG_BYTES &&
    DEPOSIT_FIELDS.every(({at, bytes}, i) => isWord(WORD_BYTES * i, at) && isWord(at, bytes));
  if (!hasForm) throw new BlockMismatch("a log of the deposit contract has another form than EIP-6110 says");
  return DEPOSIT_FIELDS.map(({at, bytes}) => log.subarray(at + WORD_BYTES, at + WORD_BYTES + bytes));
}

/** @param requests - the bytes of each type, from type 0 on */
export function hashRequests(requests: readonly Uint8Array[]): Uint8Array {
  const all = createHash("sha256");
  for (const [type, bytes] of requests.entries())
    if (bytes.length > 0) all.update(createHash("sha256").update(Uint8Array.of(type)).update(bytes).digest());
  return all.digest();
}
