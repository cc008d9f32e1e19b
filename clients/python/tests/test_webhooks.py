"""Webhooks: what both clients send, and which calls a receiver takes."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import pickle
from typing import Any

import pytest
from scripted_gateway import gateway

from pawl_sdk import AsyncClient, Client, RunFailed, RunResult, WebhookRefused, verify_webhook
from pawl_sdk._gen.pawl.v1 import run_pb2, run_service_pb2, webhook_pb2, webhook_service_pb2

KEY = bytes(range(32))
SECRET = "whsec_" + base64.b64encode(KEY).decode()
OTHER = "whsec_" + base64.b64encode(bytes(32)).decode()
BODY = '{"type": "run.completed", "data": {"note": "é"}}'.encode()
NOW = 1_800_000_000


def signed(key: bytes = KEY, body: bytes = BODY) -> dict[str, str]:
    text = b"msg." + str(NOW).encode() + b"." + body
    own = base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
    return {"Webhook-Id": "msg", "webhook-timestamp": str(NOW), "webhook-signature": f"v1,AAAA v1,{own}"}


def test_a_receiver_takes_a_webhook_that_one_of_its_secrets_signed() -> None:
    event = verify_webhook(signed(), BODY, OTHER, SECRET, now=NOW + 60)
    assert event["type"] == "run.completed"


@pytest.mark.parametrize(
    ("headers", "body", "secret", "now"),
    [
        (signed(), BODY + b" ", SECRET, NOW),
        (signed(), BODY, OTHER, NOW),
        (signed(), BODY, SECRET, NOW + 301),
        (signed(), BODY, SECRET, NOW - 301),
        (signed(), BODY, "secret", NOW),
        ({**signed(), "webhook-signature": ""}, BODY, SECRET, NOW),
        ({**signed(), "webhook-timestamp": "soon"}, BODY, SECRET, NOW),
    ],
)
def test_a_receiver_refuses_a_webhook_that_is_changed_old_or_signed_by_another(
    headers: dict[str, str], body: bytes, secret: str, now: int
) -> None:
    with pytest.raises(WebhookRefused):
        verify_webhook(headers, body, secret, now=now)


def test_a_start_names_its_webhook_and_the_result_of_a_run_has_its_cause_and_its_deliveries(use: Any) -> None:
    seen: list[Any] = []

    def start(request: Any, context: Any) -> Any:
        seen.append(request)
        return run_service_pb2.StartRunResponse(run=run_pb2.Run(run_id="r"))

    def wait(request: Any, context: Any) -> Any:
        seen.append(request)
        return run_service_pb2.WaitRunResponse(
            has_ended=True,
            result=webhook_pb2.RunResult(
                run_id="r",
                status=run_pb2.RUN_STATUS_FAILED,
                exception=webhook_pb2.RunException(cause="js_error", message="no luck", node_id="work"),
                webhooks=[
                    webhook_pb2.RunWebhookStatus(
                        delivery_id="d", state=webhook_pb2.WEBHOOK_DELIVERY_STATE_DEAD, attempts=12
                    )
                ],
            ),
        )

    with gateway(StartRun=start, WaitRun=wait) as address:
        use(address, "start", "orders", {}, webhook={"url": "https://example.com/hook", "events": ["run.failed"]})
        result = use(address, "result", "r")
    assert seen[0].webhook.url == "https://example.com/hook"
    assert seen[-1].with_result
    assert result.exception.node_id == "work"
    assert [(each.state, each.attempts) for each in result.webhooks] == [("dead", 12)]


def test_with_an_option_run_returns_the_record_however_the_run_ended_and_run_failed_reads_the_same_record() -> None:
    def start(request: Any, context: Any) -> Any:
        return run_service_pb2.StartRunResponse(run=run_pb2.Run(run_id="r"))

    def wait(request: Any, context: Any) -> Any:
        failed = run_pb2.RUN_STATUS_FAILED
        exception = webhook_pb2.RunException(cause="js_error", message="no luck", node_id="work")
        return run_service_pb2.WaitRunResponse(
            run=run_pb2.Run(run_id="r", status=failed),
            has_ended=True,
            result=webhook_pb2.RunResult(run_id="r", status=failed, exception=exception),
        )

    async def read(url: str) -> tuple[RunResult, RunResult]:
        async with AsyncClient(url) as client:
            record = await client.run("orders", with_result=True)
            with pytest.raises(RunFailed) as caught:
                await client.run("orders")
            return record, await caught.value.result()

    with gateway(StartRun=start, WaitRun=wait) as url, Client(url) as client:
        record = client.run("orders", with_result=True)
        with pytest.raises(RunFailed) as caught:
            client.run("orders")
        records = [record, caught.value.result(), *asyncio.run(read(url))]
        copy = pickle.loads(pickle.dumps(caught.value))
    assert [(each.run_id, each.status) for each in records] == [("r", "failed")] * 4
    assert [each.exception and each.exception.node_id for each in records] == ["work"] * 4
    with pytest.raises(RuntimeError, match="client.result"):
        copy.result()


def test_endpoints_are_made_rotated_and_listed_and_a_delivery_is_sent_again(use: Any) -> None:
    seen: dict[str, Any] = {}
    service = webhook_service_pb2

    def answers(name: str, answer: Any) -> Any:
        def script(request: Any, context: Any) -> Any:
            seen[name] = request
            return answer

        return script

    endpoint = webhook_pb2.WebhookEndpoint(endpoint_id="e", version=2)
    delivery = webhook_pb2.WebhookDelivery(
        delivery_id="d", state=webhook_pb2.WEBHOOK_DELIVERY_STATE_PENDING, attempts=1
    )
    scripts = {
        "CreateEndpoint": service.CreateEndpointResponse(endpoint=endpoint, secret=SECRET),
        "GetEndpoint": service.GetEndpointResponse(endpoint=endpoint),
        "ListEndpoints": service.ListEndpointsResponse(endpoints=[endpoint]),
        "UpdateEndpoint": service.UpdateEndpointResponse(endpoint=endpoint),
        "DeleteEndpoint": service.DeleteEndpointResponse(),
        "RotateSecret": service.RotateSecretResponse(endpoint=endpoint, secret=OTHER),
        "ListDeliveries": service.ListDeliveriesResponse(deliveries=[delivery]),
        "GetDelivery": service.GetDeliveryResponse(
            delivery=delivery, body=BODY, attempts=[webhook_pb2.WebhookAttempt(number=1, status_code=503)]
        ),
        "Redeliver": service.RedeliverResponse(delivery=delivery),
    }
    with gateway(**{name: answers(name, each) for name, each in scripts.items()}) as address:
        assert use(address, "webhooks.create", "e", "https://example.com/", workflow_ids=["orders"]).secret == SECRET
        assert use(address, "webhooks.rotate_secret", "e", overlap=1.5).secret == OTHER
        assert use(address, "webhooks.update", "e", disabled=True).version == 2
        assert use(address, "webhooks.get", "e").endpoint_id == "e"
        assert [each.endpoint_id for each in use(address, "webhooks.list").endpoints] == ["e"]
        assert use(address, "webhooks.deliveries", states=["pending"]).deliveries[0].state == "pending"
        assert use(address, "webhooks.delivery", "d").attempts[0].status_code == 503
        assert use(address, "webhooks.redeliver", "d").attempts == 1
        use(address, "webhooks.delete", "e")
    assert list(seen["CreateEndpoint"].spec.workflow_ids) == ["orders"]
    assert seen["RotateSecret"].overlap.ToMilliseconds() == 1500
    assert not seen["UpdateEndpoint"].HasField("spec")
