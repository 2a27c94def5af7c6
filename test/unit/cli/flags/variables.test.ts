import assert from "node:assert/strict";
import {test} from "node:test";
import {ignoreServiceVariables} from "../../../../cli/flags/variables.ts";

test("variables that Kubernetes and Docker set for a service are removed and named", () => {
  const kept = {PATH: "/bin", PROOFD_DB: "x", PROOFD_HOST: "0.0.0.0"};
  const environment: NodeJS.ProcessEnv = {
    ...kept,
    PROOFD_SERVICE_HOST: "10.0.0.1",
    PROOFD_SERVICE_PORT: "8545",
    PROOFD_SERVICE_PORT_HTTP: "8545",
    PROOFD_PORT: "tcp://10.0.0.1:8545",
    PROOFD_PORT_8545_TCP: "tcp://10.0.0.1:8545",
    PROOFD_PORT_8545_TCP_PROTO: "tcp",
    PROOFD_PORT_8545_TCP_PORT: "8545",
    PROOFD_PORT_8545_TCP_ADDR: "10.0.0.1",
    PROOFD_METRICS_PORT: "tcp://10.0.0.2:80",
    PROOFD_NAME: "/web/proofd",
    PROOFD_ENV_PATH: "/usr/bin",
    PROOFD_PORT_8545_TCP_START: "tcp://172.17.0.5:8545",
    PROOFD_PORT_8545_TCP_PORT_END: "8547",
  };
  const names = Object.keys(environment).filter(name => !(name in kept));
  const warning = ignoreServiceVariables(environment);
  assert.deepEqual(environment, kept);
  for (const name of names) assert.ok(warning?.includes(name), name);
});

test("other variables stay", () => {
  const environment = {
    PROOFD_PORT: "8545",
    PROOFD_ADMIN_PORT: "x",
    PROOFD_PORTS: "tcp://a",
    PROOFD_SERVICE: "1",
    PROOFD_NAME: "x",
  };
  const before = {...environment};
  assert.equal(ignoreServiceVariables(environment), undefined);
  assert.deepEqual(environment, before);
});
