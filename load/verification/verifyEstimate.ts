/** Checks the form of an estimate. Its value cannot be verified. */
import type {Style} from "../loadOptions.ts";
import {shorten} from "../traffic/answer.ts";

const TRANSFER_GAS = 21_000n;
const CHAIN_FIELDS = ["baseFeePerGas", "gasLimit", "priorityFeePerGas"];

export function verifyEstimate(style: Style, result: unknown): void {
  if (style === "eth") {
    checkGas("result", result);
    return;
  }
  const fields = (result ?? {}) as Record<string, unknown>;
  const names = Object.keys(fields).sort().join(", ");
  if (names !== CHAIN_FIELDS.join(", "))
    throw new Error(`expected the fields ${CHAIN_FIELDS.join(", ")}, got "${shorten(names)}"`);
  for (const name of CHAIN_FIELDS) readQuantity(name, fields[name]);
  checkGas("gasLimit", fields.gasLimit);
}

/** No transaction uses less gas than a transfer. */
function checkGas(at: string, value: unknown): void {
  const gas = readQuantity(at, value);
  if (gas < TRANSFER_GAS) throw new Error(`${at}: expected at least ${TRANSFER_GAS} gas, got ${gas}`);
}

function readQuantity(at: string, value: unknown): bigint {
  if (typeof value !== "string" || !/^0x(0|[1-9a-f][0-9a-f]{0,63})$/.test(value))
    throw new Error(`${at}: expected a quantity, got ${shorten(JSON.stringify(value ?? null))}`);
  return BigInt(value);
}
