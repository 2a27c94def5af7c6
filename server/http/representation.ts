/** Whether a client takes an answer as bytes, and how a body is encoded (RFC 9110). */

const BYTES = "application/octet-stream";
/** A weight of zero: the client does not take the type (RFC 9110, section 12.4.2). */
const ZERO_WEIGHT = /^q=0(\.0{0,3})?$/i;

/**
 * Whether the Accept header names application/octet-stream with a weight above 0. Wildcards do not count: clients send
 * them without knowing of bytes.
 */
export function acceptsBytes(accept: string): boolean {
  if (accept.length < BYTES.length) return false;
  return accept.split(",").some(range => {
    const [type, ...parameters] = range.split(";").map(part => part.trim());
    return type?.toLowerCase() === BYTES && !parameters.some(parameter => ZERO_WEIGHT.test(parameter));
  });
}

/** Whether the Content-Encoding header names only `identity`. @param encoding - "" without the header */
export function isPlain(encoding: string): boolean {
  return encoding === "" || encoding.split(",").every(name => name.trim().toLowerCase() === "identity");
}
