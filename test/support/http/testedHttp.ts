/** Which HTTP library the servers of tests use. `npm test` runs the HTTP tests a second time with "node" (test/run.ts). */
import {HTTP_LIBRARIES} from "../../../server/listener/createListener.ts";

const {TEST_HTTP = "auto"} = process.env;

export const TESTED_HTTP = HTTP_LIBRARIES.find(name => name === TEST_HTTP) ?? failFor(TEST_HTTP);

function failFor(value: string): never {
  throw new Error(`TEST_HTTP: expected ${HTTP_LIBRARIES.join(", ")}, got ${value}`);
}
