/**
 * CCIP-read (EIP-3668): what a contract asks of `proveSlots` of contracts/src/ProvenReader.sol. Not a JSON-RPC method.
 *
 *   data   selector 4 | account 32 | 0x80: where the slots are | dynamic 32 | is trie 32 | slot count 32 | slots, 32 each
 *
 * The answer is that of chain_getMultiProof, and costs as much as if all `bytes` and `string`s were as long as they may be.
 */
import {
  ADDRESS_AT,
  MAX_BYTES_WORDS,
  MAX_HEADER_BYTES,
  MAX_MULTI_KEYS,
  ProofForm,
  packedBytes,
  writeCallHead,
} from "../../../workers/messages/packedCall.ts";
import type {Work} from "../../fairness/work.ts";
import {type BodyLimits, type Call, type Envelope, parseJson} from "../../rpc/envelope.ts";
import {decodeHexBytes} from "../../rpc/hexText.ts";
import {createValueError, RpcError} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import {ParamList} from "../params.ts";
import {BYTES} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import type {Methods} from "../table.ts";
import {ADDRESS_BYTES, ADDRESS_EXPECTED, decodeAddressInto, WORD_BYTES} from "../words.ts";
import {getMultiProof} from "./getMultiProof.ts";
import type {ProofCalls} from "./proofCalls.ts";

const SELECTOR = 0x1cc64953;
const SIGNATURE = "proveSlots(address account, bytes32[] slots, uint256 dynamic, bool isTrie)";
const HEAD_WORDS = 5;
const SLOTS_AT = 4 + HEAD_WORDS * WORD_BYTES;
const MAX_SLOTS = MAX_MULTI_KEYS - 1;
const MAX_DATA_CHARACTERS = 2 + 2 * (SLOTS_AT + MAX_SLOTS * WORD_BYTES);

interface SlotsRequest {
  /** The call of a proof thread, but for its block. */
  readonly packed: Buffer;
  readonly slotCount: number;
  readonly form: ProofForm;
  readonly cost: number;
}

export const proveSlots: LaneMethod<ProofCalls> = {
  ...getMultiProof,
  name: "ccip",
  summary: "Slots of an account, proved to a contract on layer 1.",
  params: new ParamList("ccip", []),
  result: {name: "data", schema: BYTES},
  cost: params => (params as unknown as SlotsRequest).cost,
  maxTextBytes(cost, view, params) {
    return getMultiProof.maxTextBytes(cost, view, params) + 2 * (MAX_HEADER_BYTES + WORD_BYTES * cost);
  },
  prepare(params, view, calls) {
    const {packed, slotCount, form, cost} = params as unknown as SlotsRequest;
    // Layer 1 knows the roots of these blocks, and of no other block.
    const block =
      view.chain.finalizations.last()?.endBlock ?? resolveSelector("finalized", "block", "provable", view);
    writeCallHead(packed, 0, block, 1 + slotCount, form);
    calls.put(packed, cost);
  },
};

export const CCIP_METHODS: Methods = {find: () => proveSlots, findNear: () => undefined};

/** Parses the body of a POST, `{sender, data}`. @throws RpcError as parseJson */
export function* parseSlotsBody(body: Buffer, limits: BodyLimits): Work<Envelope> {
  const {sender, data} = Object(yield* parseJson(body, limits)) as Readonly<Record<string, unknown>>;
  return {isBatch: false, calls: [createSlotsCall(sender, data)]};
}

/** @param sender - the contract that asks. @param data - what it asks, 0x hex */
export function createSlotsCall(sender: unknown, data: unknown): Call {
  const call = {idText: "0", method: proveSlots.name};
  try {
    if (!decodeAddressInto(sender, Buffer.alloc(ADDRESS_BYTES), 0))
      throw createValueError("sender", sender, ADDRESS_EXPECTED);
    return {...call, params: {...parseRequest(data)}, error: undefined};
  } catch (error) {
    if (error instanceof RpcError) return {...call, params: [], error};
    throw error;
  }
}

function parseRequest(data: unknown): SlotsRequest {
  if (typeof data === "string" && data.length > MAX_DATA_CHARACTERS)
    throw createValueError("data", data, `at most ${MAX_SLOTS} slots`);
  const bytes = typeof data === "string" ? decodeHexBytes(data) : undefined;
  const abi = bytes && Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const slotCount = abi === undefined ? -1 : (abi.length - SLOTS_AT) / WORD_BYTES;
  if (abi === undefined || !isCall(abi, slotCount))
    throw createValueError("data", data, `the call data of ${SIGNATURE}`);
  if (slotCount === 0) throw createValueError("slots", [], "one slot or more");
  const word = (index: number) => abi.subarray(4 + index * WORD_BYTES, 4 + (index + 1) * WORD_BYTES);
  const bits = BigInt(`0x${word(2).toString("hex")}`);
  const dynamicCount = bits.toString(2).replaceAll("0", "").length;
  if (bits >> BigInt(slotCount) !== 0n)
    throw createValueError("dynamic", `0x${bits.toString(16)}`, `a bit for each of the ${slotCount} slots`);
  const cost = 1 + slotCount + MAX_BYTES_WORDS * dynamicCount;
  if (cost > MAX_MULTI_KEYS) {
    const rule = `at most ${MAX_MULTI_KEYS} slots together, ${MAX_BYTES_WORDS + 1} for one that is dynamic, and 1 for the account`;
    throw createValueError("slots", cost, rule);
  }
  const packed = Buffer.alloc(packedBytes(1 + slotCount));
  packed.set(word(0).subarray(WORD_BYTES - ADDRESS_BYTES), ADDRESS_AT);
  packed.set(word(2), packedBytes(0));
  packed.set(abi.subarray(SLOTS_AT), packedBytes(1));
  const form = word(3).at(-1) === 1 ? ProofForm.TRIE_SLOTS : ProofForm.SLOTS;
  return {packed, slotCount, form, cost};
}

/** Whether it is the one encoding of a call with so many slots. */
function isCall(abi: Buffer, slotCount: number): boolean {
  if (!Number.isInteger(slotCount) || slotCount < 0 || abi.readUInt32BE(0) !== SELECTOR) return false;
  const number = (index: number) =>
    BigInt(`0x${abi.toString("hex", 4 + index * WORD_BYTES, 4 + (index + 1) * WORD_BYTES)}`);
  return (
    number(0) >> BigInt(8 * ADDRESS_BYTES) === 0n &&
    number(1) === BigInt((HEAD_WORDS - 1) * WORD_BYTES) &&
    number(3) <= 1n &&
    number(4) === BigInt(slotCount)
  );
}
