/** Starts the page: figures of the service, its newest blocks, and the proof explorer. */
import {poseidon2Suite, sha256Suite} from "../client/hash/hashSuites.ts";
import {createProofClient} from "../client/methods/proofClient.ts";
import {element, place} from "./element.ts";
import {Explorer} from "./explorer/explorer.ts";
import {Blocks} from "./status/blocks.ts";
import {Status, showService} from "./status/status.ts";

const SUITES = [sha256Suite, poseidon2Suite];
const RETRY_MS = 2000;

/** The address of the page, behind whatever proxy, is that of JSON-RPC too. */
const home = new URL(location.pathname, location.origin);
const server = createProofClient({url: home.href, verify: false});

let explorer: Explorer | undefined;
const blocks = new Blocks(server, block => explorer?.chooseBlock(block));
void new Status(home, server, blocks).follow();

// A service that holds no block yet has no answer, but may have one soon.
for (;;) {
  try {
    const name = await showService(server);
    const suite = SUITES.find(one => one.name === name);
    if (suite === undefined) throw new Error(`this page knows no hash suite ${name}`);
    explorer = new Explorer(suite, server, home.href);
    place("result").replaceChildren();
    break;
  } catch (error) {
    place("result").replaceChildren(element("p", {class: "problem"}, (error as Error).message));
    await new Promise(resolve => setTimeout(resolve, RETRY_MS));
  }
}
