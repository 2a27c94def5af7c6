"""Asks a node for an account and some of its slots (eth_getProof), and verifies the answer against a state root that you trust.

    eth_proof.py URL BLOCK ROOT ADDRESS [SLOT...]

ROOT is that of the block's header. The node may be any node of a chain that keeps Ethereum's state trie.
"""
import json, sys, urllib.request

def check(holds, message):
    if not holds:
        raise ValueError(message)

def keccak(data):
    """Keccak-256, which hashlib does not have."""
    rotate = lambda lane, by: (lane << by | lane >> (64 - by)) & (2**64 - 1)
    data = bytearray(data + b"\x01" + bytes(-(len(data) + 1) % 136))
    data[-1] |= 0x80
    a = [[0] * 5 for _ in range(5)]
    for start in range(0, len(data), 136):
        for i in range(17):
            a[i % 5][i // 5] ^= int.from_bytes(data[start + 8 * i : start + 8 * i + 8], "little")
        register = 1
        for _ in range(24):
            c = [a[x][0] ^ a[x][1] ^ a[x][2] ^ a[x][3] ^ a[x][4] for x in range(5)]
            d = [c[x - 1] ^ rotate(c[(x + 1) % 5], 1) for x in range(5)]
            b = [[0] * 5 for _ in range(5)]
            b[0][0] = a[0][0] ^ d[0]
            x, y = 1, 0
            for step in range(24):
                b[y][(2 * x + 3 * y) % 5] = rotate(a[x][y] ^ d[x], (step + 1) * (step + 2) // 2 % 64)
                x, y = y, (2 * x + 3 * y) % 5
            a = [[b[x][y] ^ (~b[(x + 1) % 5][y] & b[(x + 2) % 5][y]) for y in range(5)] for x in range(5)]
            for j in range(7):
                a[0][0] ^= (register & 1) << (2**j - 1)
                register = register << 1 ^ (register >> 7) * 0x171
    return b"".join(a[i][0].to_bytes(8, "little") for i in range(4))

EMPTY = keccak(b"\x80")  # the root of a trie without keys

def rlp(data):
    """The item at the start, bytes or a list of items; and what follows it."""
    check(data, "RLP ends too early")
    if data[0] < 0x80:
        return data[:1], data[1:]
    start, size = 1, data[0] & 0x3F if data[0] >= 0xC0 else data[0] - 0x80
    if size > 55:
        start = size - 54
        size = int.from_bytes(data[1:start], "big")
    body, rest = data[start : start + size], data[start + size :]
    check(len(body) == size, "RLP ends too early")
    if data[0] < 0xC0:
        return body, rest
    items = []
    while body:
        item, body = rlp(body)
        items.append(item)
    return items, rest

def prove(root, key, texts):
    """The value of a key; None: it is proven to be absent. The nodes lead from the root to where the key is, or would be."""
    nodes, path, node = [bytes.fromhex(text[2:]) for text in texts], keccak(key).hex(), root
    if root == EMPTY:
        check(nodes in ([], [b"\x80"]), "the trie is empty")
        return None
    value = None
    while node:
        if isinstance(node, bytes):
            check(nodes and keccak(nodes[0]) == node, "a node is missing, or another one is in its place")
            node = rlp(nodes.pop(0))[0]
        elif nodes and rlp(nodes[0])[0] == node:
            nodes.pop(0)  # it lies in its parent, and some nodes send it again
        if len(node) == 17:
            node, path = node[int(path[0], 16)], path[1:]
        else:
            flags, (way, below) = node[0][0] >> 4, (node[0].hex(), node[1])
            way = way[1:] if flags & 1 else way[2:]
            if flags & 2 and way == path:
                value = below
            node, path = (below if path.startswith(way) and not flags & 2 else b""), path[len(way) :]
    check(not nodes, "trailing proof nodes")
    return value

def verify(root, address, slots, answer):
    """The account, or None, and the value of each slot. What the answer says besides its nodes does not matter."""
    value = prove(root, bytes.fromhex(address[2:]), answer["accountProof"])
    nonce, balance, storage, code = rlp(value)[0] if value is not None else (b"", b"", EMPTY, b"")
    number = lambda digits: int.from_bytes(digits, "big")
    proofs = answer["storageProof"]
    check(len(proofs) == len(slots), "there is not one proof for each slot")
    stored = [prove(storage, slot.to_bytes(32, "big"), proof["proof"]) for slot, proof in zip(slots, proofs)]
    values = [0 if digits is None else number(rlp(digits)[0]) for digits in stored]
    fields = {"nonce": number(nonce), "balance": number(balance), "storageHash": "0x" + storage.hex(), "codeHash": "0x" + code.hex()}
    return fields if value is not None else None, values

def main(url, block, root, address, *slots):
    params = [address, ["0x%064x" % int(slot, 0) for slot in slots], hex(int(block, 0))]
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "eth_getProof", "params": params}).encode()
    request = urllib.request.Request(url, body, {"content-type": "application/json"})
    answer = json.load(urllib.request.urlopen(request, timeout=60))
    check("result" in answer, f"eth_getProof: {answer.get('error')}")
    account, values = verify(bytes.fromhex(root[2:]), address, [int(slot, 0) for slot in slots], answer["result"])
    print(json.dumps({"address": address, "account": account}))
    for slot, value in zip(slots, values):
        print(json.dumps({"slot": slot, "value": hex(value)}))

if __name__ == "__main__":
    try:
        main(*sys.argv[1:]) if len(sys.argv) > 4 else sys.exit(__doc__)
    except (ValueError, OSError, LookupError, TypeError, AttributeError) as error:
        sys.exit(f"eth_proof.py: {error}")
