package deploy_test

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/decantdev/decant/internal/config"
)

// A manifest holds the fields of Kubernetes' objects that are used. Any other one is an error: it may be
// misspelled, and Kubernetes would pass over it.
type manifest struct {
	APIVersion string            `yaml:"apiVersion"`
	Kind       string            `yaml:"kind"`
	Metadata   meta              `yaml:"metadata"`
	Data       map[string]string `yaml:"data"`
	Spec       struct {
		// of a Service
		Selector any    `yaml:"selector"`
		Ports    []port `yaml:"ports"`

		// of a NetworkPolicy
		PodSelector any      `yaml:"podSelector"`
		PolicyTypes []string `yaml:"policyTypes"`
		Ingress     []rule   `yaml:"ingress"`
		Egress      []rule   `yaml:"egress"`

		// of a StatefulSet
		ServiceName string `yaml:"serviceName"`
		Replicas    int    `yaml:"replicas"`
		Template    struct {
			Metadata meta `yaml:"metadata"`
			Spec     pod  `yaml:"spec"`
		} `yaml:"template"`
		Claims []struct {
			Metadata meta `yaml:"metadata"`
			Spec     struct {
				AccessModes []string  `yaml:"accessModes"`
				Resources   resources `yaml:"resources"`
			} `yaml:"spec"`
		} `yaml:"volumeClaimTemplates"`
	} `yaml:"spec"`
}

// A rule is one of a NetworkPolicy.
type rule struct {
	From  []any            `yaml:"from"`
	Ports []map[string]any `yaml:"ports"`
}

type meta struct {
	Name   string            `yaml:"name"`
	Labels map[string]string `yaml:"labels"`
}

type port struct {
	Name          string `yaml:"name"`
	Port          int    `yaml:"port"`
	TargetPort    string `yaml:"targetPort"`
	ContainerPort int    `yaml:"containerPort"`
}

type resources struct {
	Requests map[string]string `yaml:"requests"`
	Limits   map[string]string `yaml:"limits"`
}

type pod struct {
	AutomountServiceAccountToken  *bool       `yaml:"automountServiceAccountToken"`
	EnableServiceLinks            *bool       `yaml:"enableServiceLinks"`
	TerminationGracePeriodSeconds int         `yaml:"terminationGracePeriodSeconds"`
	SecurityContext               podSecurity `yaml:"securityContext"`
	Containers                    []container `yaml:"containers"`
	Volumes                       []volume    `yaml:"volumes"`
}

type podSecurity struct {
	RunAsNonRoot        bool   `yaml:"runAsNonRoot"`
	RunAsUser           int    `yaml:"runAsUser"`
	RunAsGroup          int    `yaml:"runAsGroup"`
	FSGroup             int    `yaml:"fsGroup"`
	FSGroupChangePolicy string `yaml:"fsGroupChangePolicy"`
	Seccomp             struct {
		Type string `yaml:"type"`
	} `yaml:"seccompProfile"`
}

type container struct {
	Name  string   `yaml:"name"`
	Image string   `yaml:"image"`
	Args  []string `yaml:"args"`
	Env   []struct {
		Name      string `yaml:"name"`
		ValueFrom struct {
			Secret struct {
				Name string `yaml:"name"`
				Key  string `yaml:"key"`
			} `yaml:"secretKeyRef"`
		} `yaml:"valueFrom"`
	} `yaml:"env"`
	Ports     []port    `yaml:"ports"`
	Liveness  probe     `yaml:"livenessProbe"`
	Readiness probe     `yaml:"readinessProbe"`
	Resources resources `yaml:"resources"`
	Security  struct {
		Escalation   *bool `yaml:"allowPrivilegeEscalation"`
		ReadOnly     bool  `yaml:"readOnlyRootFilesystem"`
		Capabilities struct {
			Drop []string `yaml:"drop"`
		} `yaml:"capabilities"`
	} `yaml:"securityContext"`
	Mounts []struct {
		Name     string `yaml:"name"`
		Path     string `yaml:"mountPath"`
		ReadOnly bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

type probe struct {
	Get struct {
		Path string `yaml:"path"`
		Port string `yaml:"port"`
	} `yaml:"httpGet"`
}

type volume struct {
	Name      string `yaml:"name"`
	ConfigMap struct {
		Name string `yaml:"name"`
	} `yaml:"configMap"`
	Secret struct {
		Name string `yaml:"secretName"`
		Mode int    `yaml:"defaultMode"`
	} `yaml:"secret"`
}

// manifests returns the objects of kubernetes.yaml by kind.
func manifests(t *testing.T) map[string]manifest {
	t.Helper()
	out := map[string]manifest{}
	dec := yaml.NewDecoder(strings.NewReader(read(t, "kubernetes.yaml")), yaml.Strict())
	for {
		var m manifest
		err := dec.Decode(&m)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out[m.Kind] = m
	}
}

func TestKubernetesObjectsFitTogether(t *testing.T) {
	ms := manifests(t)
	set, service := ms["StatefulSet"], ms["Service"]
	if kinds := slices.Sorted(maps.Keys(ms)); !slices.Equal(kinds, []string{"ConfigMap", "NetworkPolicy", "Service", "StatefulSet"}) {
		t.Fatalf("objects %v", kinds)
	}
	labels := set.Spec.Template.Metadata.Labels
	if name := labels["app.kubernetes.io/name"]; name == "" || !selects(service.Spec.Selector, name) || !selects(set.Spec.Selector, name) {
		t.Errorf("the pods have the labels %v, chosen are %v and %v", labels, service.Spec.Selector, set.Spec.Selector)
	}
	if set.Spec.ServiceName != service.Metadata.Name || set.Spec.Replicas != 1 {
		t.Errorf("service %s, %d replicas", set.Spec.ServiceName, set.Spec.Replicas)
	}
	c := set.Spec.Template.Spec.Containers[0]
	ports := map[string]int{}
	for _, p := range c.Ports {
		ports[p.Name] = p.ContainerPort
	}
	for _, p := range service.Spec.Ports {
		if ports[p.TargetPort] == 0 {
			t.Errorf("the service leads to the port %q, which the container has not", p.TargetPort)
		}
	}
	for _, p := range []probe{c.Liveness, c.Readiness} {
		if ports[p.Get.Port] != 9141 || p.Get.Path == "" {
			t.Errorf("probe of %s at %s", p.Get.Path, p.Get.Port)
		}
	}
	mounted(t, set, ms["ConfigMap"])
}

// selects reports whether a selector of either form chooses an app.
func selects(selector any, app string) bool {
	m, _ := selector.(map[string]any)
	if inner, ok := m["matchLabels"].(map[string]any); ok {
		m = inner
	}
	return len(m) == 1 && m["app.kubernetes.io/name"] == app
}

// mounted checks that what the container mounts is there, and nothing is there for nothing.
func mounted(t *testing.T, set, settings manifest) {
	t.Helper()
	var have, used []string
	for _, v := range set.Spec.Template.Spec.Volumes {
		have = append(have, v.Name)
		if v.ConfigMap.Name != "" && v.ConfigMap.Name != settings.Metadata.Name {
			t.Errorf("volume %s: there is no config map %s", v.Name, v.ConfigMap.Name)
		}
	}
	for _, c := range set.Spec.Claims {
		have = append(have, c.Metadata.Name)
	}
	for _, m := range set.Spec.Template.Spec.Containers[0].Mounts {
		used = append(used, m.Name)
	}
	slices.Sort(have)
	slices.Sort(used)
	if !slices.Equal(have, used) {
		t.Errorf("volumes %v, mounts %v", have, used)
	}
}

func TestKubernetesPodHasNoRights(t *testing.T) {
	p := manifests(t)["StatefulSet"].Spec.Template.Spec
	c := p.Containers[0]
	s := p.SecurityContext
	if !s.RunAsNonRoot || s.RunAsUser != 65532 || s.FSGroup != 65532 || s.Seccomp.Type != "RuntimeDefault" || p.AutomountServiceAccountToken == nil || *p.AutomountServiceAccountToken {
		t.Errorf("the pod: %+v", s)
	}
	if c.Security.Escalation == nil || *c.Security.Escalation || !c.Security.ReadOnly || !slices.Equal(c.Security.Capabilities.Drop, []string{"ALL"}) {
		t.Errorf("the container: %+v", c.Security)
	}
	if grace := time.Duration(p.TerminationGracePeriodSeconds) * time.Second; grace < atMost(t) {
		t.Errorf("it is killed after %s, and may take %s to end", grace, atMost(t))
	}
	for _, e := range c.Env {
		if e.ValueFrom.Secret.Name == "" || e.ValueFrom.Secret.Key == "" {
			t.Errorf("%s does not come from a secret", e.Name)
		}
	}
}

// The settings are read by the code that will read them, with the variables of the pod and of the image.
func TestKubernetesSettings(t *testing.T) {
	ms := manifests(t)
	c := ms["StatefulSet"].Spec.Template.Spec.Containers[0]
	name := filepath.Join(t.TempDir(), "decant.yaml")
	if err := os.WriteFile(name, []byte(ms["ConfigMap"].Data["decant.yaml"]), 0o600); err != nil {
		t.Fatal(err)
	}
	env := []string{"DECANT_DB=/data/decant.db", "DECANT_LISTEN=0.0.0.0:4141"}
	for _, e := range c.Env {
		env = append(env, e.Name+"=alice:secret")
	}
	cfg, err := config.Load(config.Sources{File: name, Environ: env})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, m := range c.Mounts {
		paths = append(paths, m.Path)
	}
	for _, file := range []string{cfg.TLS.Cert, cfg.TLS.Key, cfg.DB, c.Args[2]} {
		if !slices.Contains(paths, filepath.Dir(file)) {
			t.Errorf("%s is in no volume: there are %v", file, paths)
		}
	}
	if cfg.Metrics != "0.0.0.0:9141" || cfg.Listen != "0.0.0.0:4141" || cfg.Token == "" || len(cfg.Keys) != 1 {
		t.Errorf("%+v", cfg)
	}
}
