/** Numbers that came through JSON.parse unharmed: safe integers. Others are not sent on as what they have become. */
import {RpcCode, RpcError} from "./rpcError.ts";

const SHOWN_FIELD = /^[A-Za-z0-9_]{1,64}$/;

interface InexactNumber {
  readonly value: number;
  /** As in `params[0].gas`, from below the value that was searched. */
  readonly path: string;
}

/**
 * @param name - of `value`, as messages call it
 * @throws RpcError INVALID_PARAMS naming a number that is no safe integer
 */
export function requireExactNumbers(value: unknown, name: string): void {
  const found = findInexactNumber(value);
  if (found === undefined) return;
  const reason = "a JSON number that is no safe integer may have lost digits: send it as a string";
  throw new RpcError(RpcCode.INVALID_PARAMS, `${name}${found.path} is ${found.value}: ${reason}`);
}

/** @param value - parsed JSON; the envelope bounds its depth */
function findInexactNumber(value: unknown): InexactNumber | undefined {
  if (typeof value === "number") return Number.isSafeInteger(value) ? undefined : {value, path: ""};
  if (typeof value !== "object" || value === null) return undefined;
  for (const field of Object.keys(value)) {
    const found = findInexactNumber((value as Record<string, unknown>)[field]);
    if (found === undefined) continue;
    const step = Array.isArray(value) ? `[${field}]` : `.${SHOWN_FIELD.test(field) ? field : "?"}`;
    return {value: found.value, path: step + found.path};
  }
  return undefined;
}
