/** The public conformance chain, homestead to osaka, and digests of geth's proofs of every account and slot. */
import {createHash} from "node:crypto";
import {fileURLToPath} from "node:url";
import {readFixture} from "../reference/fixtures.ts";

/** The folder, if it is there. It has genesis.json and chain.rlp. */
export const CONFORMANCE: string = fileURLToPath(
  new URL("../shared/data/rpc-compat", import.meta.resolve("#package/package.json")),
);
export const CONFORMANCE_BLOCKS = 54;

interface GethProofs {
  /** Every address that a block changes, and some that none does, with all slots that have ever had a value: 0x and 64 digits. */
  readonly accounts: Readonly<Record<string, readonly string[]>>;
  /** Of geth's answer to `makeProofBatch`, by block. */
  readonly digests: readonly string[];
  /** Of geth's answer to eth_getBlockByNumber, by block (digestHeader). */
  readonly headerDigests: readonly string[];
}

export const GETH_PROOFS = readFixture<GethProofs>("own/gethProofs");

interface ProofParams {
  readonly address: string;
  readonly keys: readonly string[];
}

/** Of each account its slots, those of slots below 16^62 in their short form too, and absent, short and doubled keys. */
export function listProofParams({accounts}: Pick<GethProofs, "accounts"> = GETH_PROOFS): ProofParams[] {
  return Object.entries(accounts).map(([address, slots]) => {
    const short = slots.filter(slot => slot.startsWith("0x00")).map(slot => slot.replace(/^0x0*(?=.)/, "0x"));
    const padded = [61, 62].map(zeros => `0x${"0".repeat(zeros)}5`);
    return {address, keys: [...slots, ...short, "0x0", "0x00", ...padded, "0x5", "0x5"]};
  });
}

/** The body of a batch: an account without and with its keys. */
export function makeProofBatch(block: number, params: readonly ProofParams[] = listProofParams()): string {
  const tag = `0x${block.toString(16)}`;
  const calls = params.flatMap(({address, keys}) => [
    [address, [], tag],
    [address, keys, tag],
  ]);
  return JSON.stringify(calls.map((params, id) => ({jsonrpc: "2.0", id, method: "eth_getProof", params})));
}

/** @param text - of the answer to a batch. geth ends it with a line feed */
export function digestAnswer(text: string): string {
  return createHash("sha256").update(text.trim()).digest("hex");
}

/** Of a block as eth_getBlockByNumber gives it, without what no header shows: its size, and lists that are not empty. */
export function digestHeader(block: Readonly<Record<string, unknown>>): string {
  const fields = Object.entries(block).filter(
    ([name, value]) => name !== "size" && !(Array.isArray(value) && value.length > 0),
  );
  return digestAnswer(JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1))));
}
