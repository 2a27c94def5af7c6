/** SHA-256 of the runtime where it has a synchronous one (Node, Deno, Bun), and of @noble/hashes elsewhere. */
import {sha256} from "@noble/hashes/sha2.js";
import {isEqual} from "../bytes/byteString.ts";
import {builtinModule} from "../bytes/runtime.ts";

const DIGEST_BYTES = 32;
const PROBE = Uint8Array.of(1, 2, 3);

/** The part of node:crypto that is used here. Node before 20.12 has no `hash`. */
interface RuntimeCrypto {
  hash?(algorithm: "sha256", bytes: Uint8Array, encoding: "latin1"): string;
}

/**
 * The digest is requested as text of 32 characters. As a Buffer it takes memory outside of V8's heap, and more than
 * twice the time: 0.84 us instead of 0.39 for 128 bytes. As-sha256 takes 1.5 us, @noble/hashes 2.2.
 *
 * @returns the hash of `crypto` if it agrees with @noble/hashes, else the one of @noble/hashes
 */
export function chooseSha256(
  crypto: RuntimeCrypto | undefined = builtinModule<RuntimeCrypto>("node:crypto"),
): (bytes: Uint8Array) => Uint8Array {
  const hash = crypto?.hash;
  if (hash === undefined) return sha256;
  const digest = (bytes: Uint8Array): Uint8Array => {
    const text = hash("sha256", bytes, "latin1");
    const digest = new Uint8Array(DIGEST_BYTES);
    for (let i = 0; i < DIGEST_BYTES; i++) digest[i] = text.charCodeAt(i);
    return digest;
  };
  return isRight(digest) ? digest : sha256;
}

/** The `hash` of a runtime may not support this encoding. */
function isRight(digest: (bytes: Uint8Array) => Uint8Array): boolean {
  try {
    return isEqual(digest(PROBE), sha256(PROBE));
  } catch {
    return false;
  }
}
