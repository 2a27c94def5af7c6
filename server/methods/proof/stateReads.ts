/** eth_getBalance, eth_getTransactionCount, eth_getCode and eth_getStorageAt: one value each, as geth answers. */
import {MAX_ACCOUNT_CODE_BYTES} from "../../../workers/messages/codesCall.ts";
import {
  ADDRESS_AT,
  KEYS_AT,
  ProofForm,
  packedBytes,
  writeCallHead,
} from "../../../workers/messages/packedCall.ts";
import {LaneId} from "../../request/requestCalls.ts";
import {createValueError, RpcCode} from "../../rpc/rpcError.ts";
import type {LaneMethod} from "../method.ts";
import type {PackedCalls} from "../packedCalls.ts";
import {ParamList} from "../params.ts";
import {ADDRESS_PARAM, BLOCK_PARAM, BYTES, ETH_KEY_PARAM, HASH, nullable, QUANTITY} from "../schema.ts";
import {resolveSelector} from "../selector.ts";
import {decodeEthWordInto, requireAddressInto, WORD_EXPECTED} from "../words.ts";

/** `0x`, 64 digits and the quotes. */
const WORD_TEXT_BYTES = 68;
const ADDRESS = {name: "address", required: true, schema: ADDRESS_PARAM};
const SLOT = {name: "slot", required: true, schema: ETH_KEY_PARAM};
const BLOCK = {name: "block", required: false, schema: nullable(BLOCK_PARAM)};

export const getBalance = createRead("eth_getBalance", ProofForm.BALANCE, {
  summary: "The balance of an account at a finalized block, in wei.",
  result: {name: "balance", schema: QUANTITY},
});

export const getTransactionCount = createRead("eth_getTransactionCount", ProofForm.NONCE, {
  summary: "The nonce of an account at a finalized block.",
  result: {name: "nonce", schema: QUANTITY},
});

export const getCode = createRead("eth_getCode", ProofForm.CODE, {
  summary: "The code of an account at a finalized block.",
  result: {name: "code", schema: BYTES},
  // As a code of chain_getCodes.
  cost: 2,
  textBytes: 2 * MAX_ACCOUNT_CODE_BYTES,
});

export const getStorageAt = createRead("eth_getStorageAt", ProofForm.SLOT, {
  summary: "The value of an account's slot at a finalized block.",
  result: {name: "value", schema: HASH},
  // The account and the slot.
  cost: 2,
});

interface Read extends Pick<LaneMethod, "summary" | "result"> {
  readonly cost?: number;
  /** Upper bound of a result. */
  readonly textBytes?: number;
}

function createRead(
  name: string,
  form: ProofForm,
  {summary, result, cost = 1, textBytes = WORD_TEXT_BYTES}: Read,
): LaneMethod<PackedCalls> {
  const slots = form === ProofForm.SLOT ? [SLOT] : [];
  return {
    name,
    summary,
    params: new ParamList([ADDRESS, ...slots, BLOCK]),
    result,
    errors: [RpcCode.BLOCK_UNKNOWN, RpcCode.NOT_FINALIZED],
    lane: LaneId.PROOF,
    cost: params => (Array.isArray(params) ? cost : 0),
    maxTextBytes: () => textBytes,
    prepare(params, view, calls) {
      const list = this.params.read(this, params);
      const {packed, end: start} = calls;
      requireAddressInto(list[0], "params[0] (address)", packed, start + ADDRESS_AT);
      if (slots.length > 0 && !decodeEthWordInto(list[1], packed, start + KEYS_AT))
        throw createValueError("params[1] (slot)", list[1], WORD_EXPECTED);
      const at = 1 + slots.length;
      const block = resolveSelector(list[at] ?? "latest", `params[${at}] (block)`, "provable", view);
      writeCallHead(packed, start, block, slots.length, form);
      calls.add(start + packedBytes(slots.length), cost);
    },
  };
}
