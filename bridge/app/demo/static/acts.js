// What people do on the local platforms, as requests to the server.

/** Gives `{ ok, status, body }`; never raises: what went wrong is in `body.error`. */
export async function act(platform, what, body) {
  try {
    const answer = await fetch(`/people/${platform}/${what}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
    const text = await answer.text();
    return { ok: answer.ok, status: answer.status, body: text ? JSON.parse(text) : {} };
  } catch {
    return { ok: false, status: 0, body: { error: "The demo does not answer. Is it still running?" } };
  }
}

/** What a person is told of an `Outcome` that is not simply done; null when there is nothing. */
export function trouble(answer) {
  if (!answer.ok) return answer.body.error ?? "The demo refused it.";
  return answer.body.failed || null;
}
