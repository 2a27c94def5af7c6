/** A hash suite that remembers hashes by whole messages: proofs of the same trees share most of their nodes. */
import type {HashSuite} from "../../../client/hash/hashSuites.ts";

/** Messages to remember before all are forgotten: about 50 MB. */
const MAX_MESSAGES = 100_000;

export function memoiseSuite(suite: HashSuite): HashSuite {
  const known = new Map<string, Uint8Array>();
  const remember = (message: string, hash: () => Uint8Array): Uint8Array => {
    let digest = known.get(message);
    if (digest === undefined) {
      if (known.size >= MAX_MESSAGES) known.clear();
      digest = hash();
      known.set(message, digest);
    }
    return digest;
  };
  return {
    ...suite,
    hash: (...parts) => {
      const message = Buffer.concat(parts);
      return remember(message.toString("latin1"), () => suite.hash(message));
    },
    hashPair: (left, right) => {
      const message = Buffer.concat([left, right]);
      return remember(message.toString("latin1"), () => suite.hashPair(left, right));
    },
    hashBranch: pair => remember(Buffer.from(pair).toString("latin1"), () => suite.hashBranch(pair)),
    hashAddress: address =>
      remember(`address ${Buffer.from(address).toString("latin1")}`, () => suite.hashAddress(address)),
    hashAccountValue: value =>
      remember(`value ${Buffer.from(value).toString("latin1")}`, () => suite.hashAccountValue(value)),
  };
}
