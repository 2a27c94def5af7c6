/** The client's suites that stages compare. */
import * as asSha256 from "@chainsafe/as-sha256";
import {sha256} from "@noble/hashes/sha2.js";
import {createSha256Suite, type HashSuite, poseidon2Suite, sha256Suite} from "../../client/client.ts";

type NamedSuite = readonly [name: string, suite: HashSuite];

/** @param name - the suite of the store. @returns for sha256: the runtime's hash, as-sha256, and @noble/hashes */
export function clientSuites(name: string): readonly [NamedSuite, ...NamedSuite[]] {
  if (name === poseidon2Suite.name) return [["poseidon2", poseidon2Suite]];
  return [
    ["runtime", sha256Suite],
    ["as-sha256", createSha256Suite(asSha256)],
    ["noble", createSha256Suite({digest: sha256})],
  ];
}
