/** A server that answers the client as each test says, over real HTTP, and clients of it. */
import assert from "node:assert/strict";
import type {ServerResponse} from "node:http";
import {after, afterEach, before} from "node:test";
import {createProofClient, RpcError, sha256Suite, type UrlOptions} from "../../../client/client.ts";
import {ReferenceState} from "../reference/referenceState.ts";
import {answerCalls, Upstream} from "./upstream.ts";

export const ADDRESS = `0x${"a1".repeat(20)}`;
/** Of an empty proofd. */
export const NO_COVERAGE = {
  earliest: null,
  finalized: null,
  latest: null,
  suite: "sha256",
  ranges: [],
  rangeCount: "0x0",
};
export const state = new ReferenceState(sha256Suite, [
  {number: "0x0", hash: `0x${"00".repeat(32)}`, accounts: {[ADDRESS]: {balance: "0x5"}}},
]);
export const root = state.stateRoot(0);

export let server: Upstream;

/** A server for the tests of one file. */
export function startForeignProofd(): void {
  before(() => {
    server = new Upstream();
    return server.start();
  });
  after(() => server.stop());
  afterEach(() => {
    server.requests.length = 0;
  });
}

export function createClient(options: Partial<UrlOptions> = {}) {
  return createProofClient({
    url: server.url.href,
    suite: sha256Suite,
    trustedRoot: root,
    ...options,
  });
}

export function hasCode(code: unknown) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof RpcError, String(error));
    assert.equal(error.code, code);
    assert.ok(!error.message.includes("secret"), "the message has a part of the URL");
    return true;
  };
}

/** The answer of chain_getProofAt for block 0. */
export function provenAnswer() {
  const block = {
    number: "0x0",
    hash: `0x${"00".repeat(32)}`,
    stateRoot: `0x${Buffer.from(root).toString("hex")}`,
    finalized: true,
  };
  return {block, proof: state.prove(0, ADDRESS, [])};
}

/** Answers as a proofd does whose block 0 is finalized. */
export const answerFinalized = answerCalls(method => ({
  result: method === "chain_getCoverage" ? {...NO_COVERAGE, finalized: "0x0"} : provenAnswer(),
}));

/** Answers the first requests so, and all after them as a proofd does whose block 0 is finalized. */
export function answerFirst(count: number, answer: (response: ServerResponse) => void): void {
  server.handler = (request, response) => {
    if (server.requests.length <= count) answer(response);
    else answerFinalized(request, response);
  };
}
