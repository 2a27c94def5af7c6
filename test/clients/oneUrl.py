"""web3.py with proofd's URL alone. Run: python3 oneUrl.py URL KEY"""
import sys

try:
    from web3 import Web3
except ImportError:
    print("python3 has no web3 (set WEB3_PYTHON to one that has)", file=sys.stderr)
    sys.exit(77)

LOGGER = Web3.to_checksum_address("0x" + "70" * 20)
DATA = "0x" + "5a" * 32
FINALIZED = 3

url, key = sys.argv[1:]
w3 = Web3(Web3.HTTPProvider(url))
assert w3.is_connected()
account = w3.eth.account.from_key(key)
transaction = {
    "from": account.address,
    "to": LOGGER,
    "data": DATA,
    "value": 0,
    "nonce": w3.eth.get_transaction_count(account.address),
    "chainId": w3.eth.chain_id,
    "maxPriorityFeePerGas": w3.eth.max_priority_fee,
    "maxFeePerGas": 2 * w3.eth.gas_price,
}
transaction["gas"] = w3.eth.estimate_gas(transaction)
sent = w3.eth.send_raw_transaction(account.sign_transaction(transaction).raw_transaction)
receipt = w3.eth.wait_for_transaction_receipt(sent, timeout=30, poll_latency=0.05)
assert receipt.status == 1
block = w3.eth.get_block(receipt.blockNumber, True)
assert block.transactions[0].hash == sent
assert w3.eth.get_transaction(sent).input.to_0x_hex() == DATA
logs = w3.eth.get_logs({"fromBlock": receipt.blockNumber, "toBlock": receipt.blockNumber})
assert logs[0].data.to_0x_hex() == DATA
for number in ("latest", FINALIZED):
    assert w3.eth.call({"to": LOGGER, "data": DATA}, number).to_0x_hex() == DATA
assert w3.eth.get_balance(account.address) < w3.eth.get_balance(account.address, FINALIZED)
assert w3.eth.block_number >= receipt.blockNumber
assert w3.eth.get_block("finalized").number == FINALIZED
assert len(w3.eth.fee_history(2, "latest", [50]).baseFeePerGas) > 0
print(f"a transaction in block {receipt.blockNumber}, its block, receipt, log, call")
