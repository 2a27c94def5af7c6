/** Checks the form of an estimate. Whether its value is right cannot be seen from outside. */

const TRANSFER_GAS = 21_000n;
const CHAIN_FIELDS = ["baseFeePerGas", "gasLimit", "priorityFeePerGas"];

/** @throws Error that says what is wrong */
export function verifyChainEstimate(result: unknown): void {
  const fields = (result ?? {}) as Record<string, unknown>;
  const names = Object.keys(fields).sort().join(", ");
  if (names !== CHAIN_FIELDS.join(", "))
    throw new Error(`fields are ${names} instead of ${CHAIN_FIELDS.join(", ")}`);
  for (const name of CHAIN_FIELDS) readQuantity(name, fields[name]);
  checkGas("gasLimit", fields.gasLimit);
}

/** @throws Error that says what is wrong */
export function verifyEthEstimate(result: unknown): void {
  checkGas("result", result);
}

/** The calls are transfers, and no transaction takes less gas than that. */
function checkGas(at: string, value: unknown): void {
  const gas = readQuantity(at, value);
  if (gas < TRANSFER_GAS) throw new Error(`${at}: ${gas} gas, less than a transaction takes`);
}

function readQuantity(at: string, value: unknown): bigint {
  if (typeof value !== "string" || !/^0x(0|[1-9a-f][0-9a-f]{0,63})$/.test(value))
    throw new Error(`${at}: ${JSON.stringify(value)} is no quantity`);
  return BigInt(value);
}
