/**
 * Requests of a block to the consensus layer (EIP-7685): deposits from the logs of the deposit contract (EIP-6110),
 * then the output of the system contracts.
 *
 *   hash     = sha256(sha256(type | bytes) of each type that is not empty, concatenated)
 *   deposit  = public key 48 | credentials 32 | amount 8 | signature 96 | index 8
 */
import {createHash} from "node:crypto";
import type {EvmLog} from "../../interpreter/message.ts";
import {BlockMismatch} from "../executionError.ts";

const DEPOSIT_EVENT = Buffer.from("649bbc62d0e31342afea4e5cd82d4049e7e1ee912fc0889aa790803be39038c5", "hex");
const WORD_BYTES = 32;
const LOG_BYTES = 576;

/** The ABI-encoded fields in a deposit's log. At `at` stands a word with the length, then come the bytes. */
const DEPOSIT_FIELDS: readonly {readonly at: number; readonly bytes: number}[] = [
  {at: 160, bytes: 48},
  {at: 256, bytes: 32},
  {at: 320, bytes: 8},
  {at: 384, bytes: 96},
  {at: 512, bytes: 8},
];

/** @param contract - 20 bytes. @returns the deposits, concatenated. @throws BlockMismatch for a malformed log */
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
  if (!hasForm) throw new BlockMismatch("a log of the deposit contract is not encoded as EIP-6110 requires");
  return DEPOSIT_FIELDS.map(({at, bytes}) => log.subarray(at + WORD_BYTES, at + WORD_BYTES + bytes));
}

/** @param requests - the request bytes of each type, by type */
export function hashRequests(requests: readonly Uint8Array[]): Uint8Array {
  const all = createHash("sha256");
  for (const [type, bytes] of requests.entries())
    if (bytes.length > 0) all.update(createHash("sha256").update(Uint8Array.of(type)).update(bytes).digest());
  return all.digest();
}
