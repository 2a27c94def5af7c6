/** Makes tree parts of answers of chain_getProof (docs/proofs.md, section 12). Nothing is verified. */
import {type HashSuite, readWord} from "../hash/hashSuites.ts";
import type {ProofRequest} from "../proof/request.ts";
import {check} from "../proof/strictJson.ts";
import {gatherPart} from "./gatherPart.ts";
import {type OpenedKey, openAnswer, openSlots} from "./openedPaths.ts";
import {type LeafContent, readAccountContent, type TreePart} from "./treePart.ts";

/**
 * @param request - an entry per answer, in the same order
 * @param answers - the `result` of each, parsed
 * @throws ProofError if an answer has not the form of docs/proofs.md, section 5, or they are of several blocks
 */
export function gatherAnswers(
  suite: HashSuite,
  request: readonly ProofRequest[],
  answers: readonly unknown[],
): TreePart {
  check(answers.length === request.length, "answers", `${answers.length} for ${request.length} entries`);
  const entries = request.map((entry, i) => openAnswer(suite, entry, answers[i]));
  const accounts = entries.map(({account}) => account);
  return gatherPart(suite, "accountTree", accounts, (value, named) => {
    const slots = named.flatMap(i => entries[i]?.slots ?? []);
    const storage = slots.length === 0 ? undefined : gatherSlots(suite, slots);
    return {...readAccountContent(value), storage};
  });
}

/** The part of one storage tree. @param proofs - of `storageProofs`, one per key. @throws ProofError as above */
export function gatherStorageProofs(suite: HashSuite, keys: readonly string[], proofs: unknown): TreePart {
  return gatherSlots(suite, openSlots(suite, keys, proofs));
}

function gatherSlots(suite: HashSuite, slots: readonly OpenedKey[]): TreePart {
  return gatherPart(suite, "storageTree", slots, (value): LeafContent => {
    return {role: "slot", value: readWord(value)};
  });
}
