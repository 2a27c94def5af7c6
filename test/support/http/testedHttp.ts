/** Which HTTP library the servers of tests use. `npm test` runs the HTTP tests a second time with "node" (test/run.ts). */
import {HTTP_LIBRARIES} from "../../../server/listener/createListener.ts";
import {loadUws} from "../../../server/listener/uwsLibrary.ts";

let loads: boolean | undefined;

/** Of TEST_HTTP; by default what `--http auto` takes, so that no server of a test warns that it falls back. */
export function testedHttp(): (typeof HTTP_LIBRARIES)[number] {
  const {TEST_HTTP = uwsLoads() ? "uws" : "node"} = process.env;
  const known = HTTP_LIBRARIES.find(name => name === TEST_HTTP);
  if (known === undefined)
    throw new Error(`TEST_HTTP: expected ${HTTP_LIBRARIES.join(", ")}, got ${TEST_HTTP}`);
  return known;
}

export function uwsLoads(): boolean {
  if (loads === undefined)
    try {
      loadUws();
      loads = true;
    } catch {
      loads = false; // uwsLibrary.test.ts checks the binaries
    }
  return loads;
}
