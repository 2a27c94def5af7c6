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
import type {PackedCalls} from "../packedCalls.ts";
import {resolveSelector} from "../selector.ts";
import type {Methods} from "../table.ts";
import {ADDRESS_BYTES, requireAddressInto, WORD_BYTES} from "../words.ts";
import {getMultiProof} from "./getMultiProof.ts";

const SELECTOR = 0x1cc64953;
const HEAD_WORDS = 5;
const SLOTS_AT = 4 + HEAD_WORDS * WORD_BYTES;
const MAX_SLOTS = MAX_MULTI_KEYS - 1;
const MAX_DATA_CHARACTERS = 2 + 2 * (SLOTS_AT + MAX_SLOTS * WORD_BYTES);
const CALL_EXPECTED = `call data of proveSlots(address account, bytes32[] slots, uint256 dynamic, bool isTrie) with 1 to ${MAX_SLOTS} slots`;
const COST_EXPECTED = `at most ${MAX_MULTI_KEYS}, 1 for the account, 1 for each slot, ${MAX_BYTES_WORDS} more if it is dynamic`;

interface SlotsRequest {
  /** The call of a proof thread, but for its block. */
  readonly packed: Buffer;
  readonly slotCount: number;
  readonly form: ProofForm;
  readonly cost: number;
}

export const proveSlots: LaneMethod<PackedCalls> = {
  ...getMultiProof,
  name: "ccip",
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
    requireAddressInto(sender, "sender", Buffer.alloc(ADDRESS_BYTES), 0);
    return {...call, params: {...parseRequest(data)}, error: undefined};
  } catch (error) {
    if (error instanceof RpcError) return {...call, params: [], error};
    throw error;
  }
}

function parseRequest(data: unknown): SlotsRequest {
  const isShort = typeof data === "string" && data.length <= MAX_DATA_CHARACTERS;
  const abi = Buffer.from((isShort && decodeHexBytes(data)) || []);
  const slotCount = (abi.length - SLOTS_AT) / WORD_BYTES;
  const word = (index: number) => abi.subarray(4 + index * WORD_BYTES, 4 + (index + 1) * WORD_BYTES);
  const number = (index: number) => BigInt(`0x0${word(index).toString("hex")}`);
  const bits = number(2);
  const isCall =
    slotCount >= 1 &&
    abi.readUInt32BE(0) === SELECTOR &&
    number(0) >> BigInt(8 * ADDRESS_BYTES) === 0n &&
    number(1) === BigInt((HEAD_WORDS - 1) * WORD_BYTES) &&
    number(3) <= 1n &&
    Number(number(4)) === slotCount;
  if (!isCall) throw createValueError("data", data, CALL_EXPECTED);
  if (bits >> BigInt(slotCount) !== 0n)
    throw createValueError("dynamic", `0x${bits.toString(16)}`, `a bit for each of the ${slotCount} slots`);
  const cost = 1 + slotCount + MAX_BYTES_WORDS * bits.toString(2).replaceAll("0", "").length;
  if (cost > MAX_MULTI_KEYS) throw createValueError("the cost of the slots", cost, COST_EXPECTED);
  const packed = Buffer.alloc(packedBytes(1 + slotCount));
  packed.set(word(0).subarray(-ADDRESS_BYTES), ADDRESS_AT);
  packed.set(word(2), packedBytes(0));
  packed.set(abi.subarray(SLOTS_AT), packedBytes(1));
  return {packed, slotCount, form: number(3) === 1n ? ProofForm.TRIE_SLOTS : ProofForm.SLOTS, cost};
}
