/** The Accept header of a JSON-RPC request: whether the client takes an answer as bytes (RFC 9110, section 12.5.1). */

const BYTES = "application/octet-stream";

/**
 * Tells whether the header names application/octet-stream. Wildcards do not count, because clients send them without knowing of
 * bytes. Weights are not compared: a client that names the type can read it.
 */
export function acceptsBytes(accept: string): boolean {
  if (accept.length < BYTES.length) return false;
  return accept.split(",").some(range => (range.split(";")[0] as string).trim().toLowerCase() === BYTES);
}
