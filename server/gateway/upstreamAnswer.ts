/** Checks the shape of an upstream's JSON-RPC answer. Its result or error is kept exactly as it was written. */
import {isUtf8} from "node:buffer";
import {findFieldText} from "../rpc/idText.ts";
import {RpcCode} from "../rpc/rpcError.ts";

/** The upstream's answer is not valid JSON-RPC. The caller may see the message. */
export class UpstreamError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UpstreamError";
  }
}

export interface UpstreamAnswer {
  readonly member: "result" | "error";
  /** JSON text of its value, as the upstream wrote it. */
  readonly text: string;
  /** The code that the answer is counted under: 0 or the error's code. As a metric's label, it is one of the known codes. */
  readonly code: number;
}

const KNOWN_CODES: ReadonlySet<number> = new Set(Object.values(RpcCode));

/**
 * @param id - of the request that is answered
 * @throws UpstreamError
 */
export function readUpstreamAnswer(bytes: Buffer, id: number): UpstreamAnswer {
  const fields = parseObject(bytes);
  if (fields === undefined || !Object.hasOwn(fields, "jsonrpc") || fields.jsonrpc !== "2.0")
    throw new UpstreamError("its answer is not JSON-RPC 2.0");
  if (!Object.hasOwn(fields, "id") || fields.id !== id)
    throw new UpstreamError("its answer has another request's id");
  // Some nodes write `"error":null` beside a result.
  const error = Object.hasOwn(fields, "error") ? fields.error : null;
  if (error !== null) {
    const code = readErrorCode(error);
    return {member: "error", text: findFieldText(bytes, "error") as string, code};
  }
  if (!Object.hasOwn(fields, "result")) throw new UpstreamError("its answer has neither result nor error");
  return {member: "result", text: findFieldText(bytes, "result") as string, code: 0};
}

function parseObject(bytes: Buffer): Record<string, unknown> | undefined {
  if (!isUtf8(bytes)) return undefined;
  try {
    const parsed: unknown = JSON.parse(bytes.toString("utf8"));
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed))
      return parsed as Record<string, unknown>;
  } catch {
    // It is not JSON.
  }
  return undefined;
}

function readErrorCode(error: unknown): number {
  if (typeof error === "object" && error !== null && Object.hasOwn(error, "code")) {
    const {code, message} = error as Record<string, unknown>;
    if (typeof code === "number" && Number.isSafeInteger(code) && typeof message === "string")
      return KNOWN_CODES.has(code) ? code : RpcCode.EXECUTION_FAILED;
  }
  throw new UpstreamError("the error in its answer is not one of JSON-RPC 2.0");
}
