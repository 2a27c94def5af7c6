/**
 * What a nats-server that believes credentials only is configured with, and a user's credentials: JSON web tokens that keys of NATS sign.
 *
 *   operator -- signs --> account (with JetStream) -- signs --> user
 */
import {nkeys} from "@nats-io/transport-node";

type Pair = ReturnType<typeof nkeys.createUser>;

const FOREVER = {subs: -1, data: -1, payload: -1};
const DISK = 2_000_000_000;

/** @returns the text of a configuration, and of a file of credentials */
export function createIdentity(): {readonly config: string; readonly creds: string} {
  const [operator, user] = [nkeys.createOperator(), nkeys.createUser()];
  const [system, account] = [nkeys.createAccount(), nkeys.createAccount()];
  const operatorToken = sign(operator, operator, {type: "operator"});
  const limits = {...FOREVER, conn: -1, leaf: -1, imports: -1, exports: -1, wildcards: true};
  const accountToken = sign(operator, account, {
    type: "account",
    limits: {...limits, mem_storage: -1, disk_storage: DISK, streams: -1, consumer: -1},
  });
  const systemToken = sign(operator, system, {type: "account", limits});
  const userToken = sign(account, user, {type: "user", ...FOREVER});
  const [systemName, name] = [system.getPublicKey(), account.getPublicKey()];
  const config = [
    `operator: ${operatorToken}`,
    "resolver: MEMORY",
    `system_account: ${systemName}`,
    `resolver_preload: {${systemName}: ${systemToken}, ${name}: ${accountToken}}`,
    "",
  ].join("\n");
  const seed = new TextDecoder().decode(user.getSeed());
  const creds = [
    ...["-----BEGIN NATS USER JWT-----", userToken, "------END NATS USER JWT------", ""],
    ...["-----BEGIN USER NKEY SEED-----", seed, "------END USER NKEY SEED------", ""],
  ].join("\n");
  return {config, creds};
}

function sign(issuer: Pair, subject: Pair, nats: object): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = {
    jti: subject.getPublicKey(),
    iat: 1_700_000_000,
    iss: issuer.getPublicKey(),
    sub: subject.getPublicKey(),
    name: "proofd",
    nats: {...nats, version: 2},
  };
  const text = `${encode({typ: "JWT", alg: "ed25519-nkey"})}.${encode(claims)}`;
  return `${text}.${Buffer.from(issuer.sign(Buffer.from(text))).toString("base64url")}`;
}
