export default {
  id: "sayso",
  name: "Sayso",
  description: "Asks people before a tool runs",
  register(api) {
    const blocked = (reason) => ({ block: true, blockReason: String(reason || NO_ANSWER) })
    const before = async (event, ctx) => {
      try {
        const { toolName, toolCallId, runId, params = {} } = event
        const session = ctx?.sessionId ?? ctx?.sessionKey
        const folder = api.runtime?.agent?.resolveAgentWorkspaceDir?.(api.config, ctx?.agentId)
        const directory = folder ?? process.cwd()
        // What people see is what runs: this text, which no other plugin holds.
        const text = JSON.stringify({ toolName, params, toolCallId, runId, session, directory })
        const answer = await ask(LINE, text, LIMIT_MS, ctx?.abortSignal)
        return answer?.decision === "allow" ? { params: JSON.parse(text).params } : blocked(answer?.reason)
      } catch {
        return blocked()
      }
    }
    // The lowest priority, so that no other plugin changes the parameters after people have seen them.
    api.on("before_tool_call", before, { priority: Number.MIN_SAFE_INTEGER, timeoutMs: LIMIT_MS })
  },
}
