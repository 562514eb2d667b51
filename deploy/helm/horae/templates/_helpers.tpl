{{/* The name of a component of this release: call it with (list $ "node"). */}}
{{- define "horae.name" -}}
{{- $root := index . 0 -}}
{{- $release := $root.Release.Name | trunc 40 | trimSuffix "-" -}}
{{- $base := ternary $release (printf "%s-horae" $release) (contains "horae" $release) -}}
{{- printf "%s-%s" $base (index . 1) -}}
{{- end -}}

{{/* The labels by which pods of a component are selected: they never change. */}}
{{- define "horae.selector" -}}
app.kubernetes.io/name: horae
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{- define "horae.labels" -}}
{{- $root := index . 0 -}}
{{ include "horae.selector" . }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version }}
{{- end -}}

{{- define "horae.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The settings of a component that come from Secrets, as JSON: {"found": [{setting, name, key}]}. Call it with
     (list $ component). */}}
{{- define "horae.secretSettings" -}}
{{- $secrets := (index . 0).Values.secrets -}}
{{- $component := index . 1 -}}
{{- $found := list -}}
{{- if eq $component "node" }}{{ $found = append $found (merge (dict "setting" "cells") $secrets.nodeCells) }}{{ end -}}
{{- if eq $component "api" -}}
{{- $found = append $found (merge (dict "setting" "api_cells") $secrets.apiCells) -}}
{{- $found = append $found (merge (dict "setting" "api_secret") $secrets.apiSecret) -}}
{{- end -}}
{{- if has $component (list "migrate" "rescue") -}}
{{- $found = append $found (merge (dict "setting" "cells") $secrets.migrateCells) -}}
{{- end -}}
{{- if ne $component "migrate" -}}
{{- $found = concat $found $secrets.others -}}
{{- if $secrets.monitoringToken.name -}}
{{- $found = append $found (merge (dict "setting" "monitoring_token") $secrets.monitoringToken) -}}
{{- end -}}
{{- end -}}
{{- dict "found" $found | toJson -}}
{{- end -}}

{{/* The variables that name the files of these settings. A variable with the secret itself is passed on to each
     program that the process starts, and stands in its /proc folder. */}}
{{- define "horae.secretVariables" -}}
{{- range (include "horae.secretSettings" . | fromJson).found }}
- name: HORAE_{{ .setting | upper }}_FILE
  value: /etc/horae/secrets/{{ .setting }}
{{- end }}
{{- end -}}

{{/* Settings of the values, sorted by name. Lists and tables are JSON, as the settings read them; so are numbers, which
     would be written as 1e+06 otherwise. */}}
{{- define "horae.settings" -}}
{{- range $name, $value := . }}
- name: HORAE_{{ $name | upper }}
  value: {{ ternary $value (toJson $value) (kindIs "string" $value) | quote }}
{{- end }}
{{- end -}}

{{/* The environment that nodes and API servers share: call it with (list $ component). */}}
{{- define "horae.environment" -}}
{{- $root := index . 0 -}}
{{- $values := $root.Values -}}
{{- $own := index $values (index . 1) -}}
{{- $fixed := dict "environment" $values.environment "keyring" (printf "/etc/horae/keyring/%s" $values.secrets.keyring.key) "monitoring_host" "0.0.0.0" "log_json" true -}}
{{- if eq (index . 1) "api" }}{{ $_ := set $fixed "api_host" "0.0.0.0" }}{{ end -}}
{{- include "horae.settings" (mergeOverwrite $fixed (deepCopy $values.settings) (deepCopy $own.settings)) | trim }}
{{- end -}}

{{/* What every pod of Horae has: no token of the cluster, no root, no variables for services.
     A service named horae-api would otherwise set HORAE_API_PORT in each pod. */}}
{{- define "horae.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "horae.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end -}}

{{/* Files of a pod: call it with (list $ component). The group of the pod reads the secrets, nobody else. */}}
{{- define "horae.volumes" -}}
{{- $secrets := (index . 0).Values.secrets -}}
- name: tmp
  emptyDir: {sizeLimit: 256Mi}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range (include "horae.secretSettings" . | fromJson).found }}
      - secret: {name: {{ .name }}, items: [{key: {{ .key }}, path: {{ .setting }}}]}
      {{- end }}
{{- if ne (index . 1) "migrate" }}
- name: keyring
  secret: {secretName: {{ $secrets.keyring.name }}, defaultMode: 0440}
{{- end }}
{{- if $secrets.databaseCa.name }}
- name: tls
  secret:
    secretName: {{ $secrets.databaseCa.name }}
    defaultMode: 0440
    items: [{key: {{ $secrets.databaseCa.key }}, path: ca.crt}]
{{- end }}
{{- end -}}

{{- define "horae.volumeMounts" -}}
{{- $secrets := (index . 0).Values.secrets -}}
- {name: tmp, mountPath: /tmp}
- {name: secrets, mountPath: /etc/horae/secrets, readOnly: true}
{{- if ne (index . 1) "migrate" }}
- {name: keyring, mountPath: /etc/horae/keyring, readOnly: true}
{{- end }}
{{- if $secrets.databaseCa.name }}
- {name: tls, mountPath: /etc/horae/tls, readOnly: true}
{{- end }}
{{- end -}}

{{/* Pods of a component spread over machines and zones; the pods of each release of it for themselves. */}}
{{- define "horae.spread" -}}
topologySpreadConstraints:
  {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels:
        {{- include "horae.selector" $ | nindent 8 }}
  {{- end }}
{{- end -}}

{{/* Where the pods of a component may run: call it with the values of the component. */}}
{{- define "horae.placement" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* `/healthz` asks nobody, so an outage of PostgreSQL restarts no pod. `/readyz` says whether it makes progress. */}}
{{- define "horae.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: monitoring}
  periodSeconds: 2
  failureThreshold: 60
readinessProbe:
  httpGet: {path: /readyz, port: monitoring}
  periodSeconds: 5
  timeoutSeconds: 3
livenessProbe:
  httpGet: {path: /healthz, port: monitoring}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
{{- end -}}
